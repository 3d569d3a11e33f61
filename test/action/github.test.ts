import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readGitHubInputs } from '../../src/action/read-step.ts';
import { connectGitHub, expandRoute, type ConnectedGitHub } from '../../src/action/github-connection.ts';
import { runReportOf, type RunFacts } from '../../src/action/create-run-reporter.ts';
import { GitHubReporter } from '../../src/action/github-reporter.ts';
import type { RunReport } from '../../src/action/deployment-reports.ts';
import { statusOf } from '../../src/github/client.ts';
import { outcomeStatus } from '../../src/github/deployment.ts';
import { outcomeKinds } from '../../src/contract/outcome-kinds.ts';
import type { Outcome } from '../../src/deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../../src/deploy/machine/deploy-event.ts';
import { LittleGitHub } from '../github/little-github.ts';

const commit = 'c0ffee0000000000000000000000000000000001';
const run: RunReport = {
  mode: 'deploy',
  repositoryUrl: 'https://github.com/acme/agents',
  repository: { owner: 'acme', name: 'agents' },
  commit,
  externalId: '900-1 echo',
  name: 'echo',
  topic: 'echo',
  runUrl: 'https://github.com/acme/agents/actions/runs/900',
  pullRequest: 12,
  environment: { name: 'staging', production: false, transient: false },
};
const deployed: Outcome = {
  kind: 'deployed',
  passes: true,
  reason: 'Revision r2 is live.',
  deploymentName: 'echo',
  deploymentUrl: 'https://echo.example',
  changed: true,
  notes: [],
};
const started: DeployEvent = { kind: 'started', how: 'patched', deploymentId: 'd1', revisionId: 'r2' };
const requested: DeployEvent = { kind: 'smoke-began', address: 'https://echo.example', tests: 1 };

let github: LittleGitHub;
let client: ConnectedGitHub;
let warnings: string[];

beforeEach(async () => {
  github = new LittleGitHub();
  warnings = [];
  client = connectGitHub(await github.start(), 'secret-token', { userAgent: 'test', env: {}, retry: { attempts: 1 } });
});
afterEach(async () => {
  await client.close();
  await github.stop();
});

const clock = { now: () => Date.now(), sleep: async () => undefined };
const reporter = (over: Partial<RunReport> = {}) =>
  new GitHubReporter({ client, run: { ...run, ...over }, clock, warn: (message) => warnings.push(message) });

/** The newest status of the deployment with this external id. */
function stateOf(externalId: string): unknown {
  const made = github.deployments.find(({ payload }) => JSON.stringify(payload).includes(`"${externalId}"`));
  return github.statuses.findLast((each) => each['deployment'] === made?.id)?.['state'];
}

describe('settings of GitHub reporting', () => {
  test.each([
    ['nothing without a token', {}, undefined],
    [
      'a comment with a token',
      { 'github-token': 't' },
      { token: 't', comment: true, deployment: false, environment: undefined },
    ],
    ['nothing where both are off', { 'github-token': 't', comment: 'false' }, undefined],
    [
      'a deployment to an environment',
      { 'github-token': 't', comment: 'FALSE', 'github-deployment': 'true', environment: ' staging ' },
      { token: 't', comment: false, deployment: true, environment: 'staging' },
    ],
  ])('%s', (_, inputs, reporting) => expect(readGitHubInputs(inputs)).toEqual({ reporting, problems: [] }));

  test.each([
    ['a word that is no flag', { 'github-token': 't', comment: 'yes' }, ['comment']],
    ['a deployment without a token', { 'github-deployment': 'true' }, ['github-token']],
  ])('%s is named', (_, inputs, fields) => {
    expect(readGitHubInputs(inputs).problems.map(({ field }) => field)).toEqual(fields);
  });
});

describe('what of a run is shown', () => {
  const facts: RunFacts = {
    workflow: {
      repository: 'acme/agents',
      sha: 'merge',
      ref: 'refs/pull/12/merge',
      serverUrl: 'https://github.com',
      runUrl: 'https://github.com/acme/agents/actions/runs/900',
      headSha: commit,
      headRef: 'topic',
      pullRequest: 12,
    },
    event: { runId: '900', runAttempt: 2 },
    commit: undefined,
    step: 'deploy/preview/landfall',
  };
  const { headSha: _, headRef: __, pullRequest: ___, ...pushed } = facts.workflow;
  const reporting = { token: 't', comment: true, deployment: true, environment: undefined };
  const progress = { mode: 'deploy', name: 'echo' } as const;

  test('a pull request uses its head commit, a comment and a transient environment', () => {
    expect(runReportOf(reporting, facts, progress)).toEqual({
      ...run,
      step: 'deploy/preview/landfall',
      externalId: '900-2 echo',
      environment: { name: 'echo', production: false, transient: true },
    });
  });

  test('a preview is in an environment of its pull request', () => {
    expect(runReportOf(reporting, facts, { mode: 'preview', name: 'echo' })).toMatchObject({
      topic: 'preview of echo',
      environment: { name: 'preview/pr-12', production: false, transient: true },
    });
  });

  test.each([undefined, 'production'])('a run that sweeps previews is in no environment: %s', (environment) => {
    const report = runReportOf(
      { ...reporting, environment },
      { ...facts, workflow: pushed },
      { mode: 'preview', name: 'echo' },
    );
    expect(report.environment).toBeUndefined();
    expect(report.ofRemoved).toEqual({ comments: true, deployments: true });
  });

  test.each([
    ['production of a branch is production', 'production', pushed, true],
    ['prod too', 'Prod', pushed, true],
    ['staging is not', 'staging', pushed, false],
    ['a pull request never is', 'production', facts.workflow, false],
  ])('%s', (_, environment, workflow, production) => {
    expect(runReportOf({ ...reporting, environment }, { ...facts, workflow }, progress).environment).toMatchObject({
      production,
    });
  });

  test.each(['plan', 'smoke'] as const)('%s puts no commit anywhere, so it makes no deployment', (mode) => {
    expect(runReportOf(reporting, facts, { mode, name: 'echo' }).environment).toBeUndefined();
  });

  test.each([
    ['the deployment', undefined, 'echo'],
    ['the deployment and its environment', 'staging', 'echo in staging'],
  ])('a comment names %s in every mode', (_, environment, about) => {
    for (const mode of ['plan', 'deploy', 'smoke'] as const) {
      expect(runReportOf({ ...reporting, environment }, facts, { mode, name: 'echo' }).topic).toBe(about);
    }
  });

  test('a push has no comment', () => {
    expect(runReportOf(reporting, { ...facts, workflow: pushed }, progress)).not.toHaveProperty('pullRequest');
  });

  test('a commit that is named or looked up is reported in place of that of the event', () => {
    expect(runReportOf(reporting, { ...facts, commit: 'f'.repeat(40) }, progress).commit).toBe('f'.repeat(40));
  });
});

describe('a request', () => {
  test('has its parameters in the address, and the others in query or body', () => {
    expect(
      expandRoute('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
        owner: 'a b',
        repo: 'x/y',
        issue_number: 12,
        per_page: 100,
        page: 2,
      }),
    ).toEqual({ method: 'GET', path: '/repos/a%20b/x%2Fy/issues/12/comments', rest: { per_page: 100, page: 2 } });
  });

  test('reports the status of a refusal, and never the token', async () => {
    const error = await client.request('GET /user', {}).catch((each: unknown) => each);
    expect(statusOf(error)).toBe(403);
    expect(String(error)).not.toContain('secret-token');
  });
});

describe('a deploy run on GitHub', () => {
  test('is a deployment with a status for each step, and a comment', async () => {
    const reported = reporter();
    for (const event of [started, requested]) reported.emit(event);
    await reported.finish(deployed);
    expect(github.deployments).toMatchObject([
      { ref: commit, environment: 'staging', payload: { landfall: '900-1 echo' } },
    ]);
    expect(github.statuses).toMatchObject([
      { state: 'in_progress', description: 'echo: revision r2 patched', log_url: run.runUrl },
      { state: 'in_progress', description: 'echo: live, running smoke tests' },
      { state: 'success', environment_url: 'https://echo.example', auto_inactive: true },
    ]);
    const [comment] = github.comments;
    expect(comment?.['body']).toContain('## ✅ echo: deployed');
    expect(comment?.['body']).toContain(`[this run](${run.runUrl})`);
    expect(warnings).toEqual([]);
  });

  test('keeps one comment over many runs', async () => {
    await reporter().finish(deployed);
    await reporter().finish({ ...deployed, kind: 'failed', passes: false });
    expect(github.comments).toHaveLength(1);
    expect(github.comments[0]?.['body']).toContain('## ❌ echo: failed');
  });

  test('that begins nothing makes no deployment', async () => {
    await reporter().finish({ ...deployed, kind: 'unchanged', changed: false });
    expect(github.deployments).toEqual([]);
    expect(github.comments).toHaveLength(1);
  });

  test('puts success on the commit that was built, and none on another', async () => {
    const built = 'b'.repeat(40);
    const reported = reporter();
    reported.emit(started);
    const rollout = { kind: 'live', revisionId: 'r2', seen: [], builtCommit: built } as const;
    await reported.finish({ ...deployed, repoUrl: 'https://github.com/Acme/agents.git', rollout });
    expect(github.deployments.map(({ ref }) => ref)).toEqual([commit, built]);
    expect(github.statuses.map(({ state }) => state)).toEqual(['in_progress', 'inactive', 'success']);
    expect(github.comments[0]?.['body']).toContain(built);
  });

  test('that was refused shows an error where a success was shown before', async () => {
    await reporter().finish({ ...deployed, kind: 'refused', passes: false });
    expect(github.statuses).toMatchObject([{ state: 'error', environment: 'staging' }]);
    expect(github.comments[0]?.['body']).toContain('## ❌ echo: refused');
  });

  test('that finds nothing to do takes back an error that was shown', async () => {
    await reporter().finish({ ...deployed, kind: 'refused', passes: false });
    await reporter({ externalId: '901-1 echo' }).finish({ ...deployed, kind: 'unchanged' });
    expect(github.statuses.map(({ state }) => state)).toEqual(['error', 'success']);
  });

  test('retires the earlier pushes of its own deployment alone', async () => {
    for (const externalId of ['900-1 echo', '901-1 other', '902-1 echo']) {
      const reported = reporter({ externalId, environment: { name: 'pr-12', production: false, transient: true } });
      reported.emit(started);
      await reported.finish(deployed);
    }
    expect(stateOf('900-1 echo')).toBe('inactive');
    expect(stateOf('901-1 other')).toBe('success');
    expect(stateOf('902-1 echo')).toBe('success');
  });

  test.each(['deleted', 'started'] as const)('of a deletion that is %s leaves none active', async (kind) => {
    for (const externalId of ['900-1 echo', '901-1 echo', '901-1 other']) {
      const reported = reporter({ externalId });
      reported.emit(started);
      await reported.finish({ ...deployed, deploymentName: externalId.slice(6) });
    }
    await reporter({ mode: 'delete' }).finish({ ...deployed, kind });
    expect([stateOf('900-1 echo'), stateOf('901-1 echo')]).toEqual(['inactive', 'inactive']);
    expect(stateOf('901-1 other')).toBe('success');
    expect(github.deployments).toHaveLength(3);
  });

  test('of a deletion that only plans changes nothing', async () => {
    const reported = reporter();
    reported.emit(started);
    await reported.finish(deployed);
    await reporter({ mode: 'delete' }).finish({ ...deployed, kind: 'planned' });
    expect(stateOf('900-1 echo')).toBe('success');
  });

  test('of a rollback shows the commit that serves again', async () => {
    const former = 'd'.repeat(40);
    for (const [externalId, each, revisionId] of [
      ['900-1 echo', former, 'r1'],
      ['901-1 echo', commit, 'r2'],
    ] as const) {
      const reported = reporter({ externalId, commit: each });
      reported.emit({ ...started, revisionId });
      await reported.finish(deployed);
    }
    const rollout = { kind: 'live', revisionId: 'r3', seen: [] } as const;
    const verdict = { kind: 'none', tests: [] } as const;
    await reporter({ mode: 'rollback', externalId: '902-1 echo' }).finish({
      ...deployed,
      kind: 'rolled-back',
      rollback: { kind: 'done', toRevisionId: 'r1', rollout, verdict },
    });
    expect(github.deployments.map(({ ref }) => ref)).toEqual([former, commit, former]);
    expect(['900-1 echo', '901-1 echo', '902-1 echo'].map(stateOf)).toEqual(['inactive', 'inactive', 'success']);
  });

  test('that ends before it knows its deployment edits the comments of its step', async () => {
    await reporter({ step: 'ci/deploy/a' }).finish(deployed);
    await reporter({ step: 'ci/deploy/b', topic: 'other' }).finish(deployed);
    const { name: _, topic: __, environment: ___, ...unknown } = run;
    const refused = new GitHubReporter({
      client,
      run: { ...unknown, step: 'ci/deploy/a' },
      clock,
      warn: (message) => warnings.push(message),
    });
    await refused.finish({ ...deployed, kind: 'refused', passes: false });
    const titles = github.comments.map(({ body }) => /^## .*$/m.exec(String(body))?.[0]);
    expect(titles).toEqual(['## ❌ echo: refused', '## ✅ echo: deployed']);
    expect(String(github.comments[0]?.['body'])).toMatch(/^<!-- landfall: echo -->\n/);
  });

  test('does not double what was made without an answer', async () => {
    const dropped = new Set<string>();
    github.after = ({ method, path }, answered) => {
      if (method !== 'POST' || dropped.has(path)) return answered;
      dropped.add(path);
      return { ...answered, drop: true };
    };
    const reported = reporter();
    reported.emit(started);
    await reported.finish(deployed);
    expect(dropped.size).toBeGreaterThanOrEqual(3);
    expect(github.deployments).toHaveLength(1);
    expect(github.statuses.map(({ state }) => state)).toEqual(['in_progress', 'success']);
    expect(github.comments).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  test('without write access it continues, and warns once per missing permission', async () => {
    github.before = ({ method }) =>
      method === 'POST' ? { status: 403, body: { message: 'Resource not accessible by integration' } } : undefined;
    const reported = reporter();
    for (const event of [started, requested]) reported.emit(event);
    await reported.finish(deployed);
    expect(warnings).toEqual([
      expect.stringMatching(/^The GitHub Deployment was not written: .*403.*`permissions: deployments: write`\.$/),
      expect.stringMatching(/^The comment was not written: .*403.*`permissions: pull-requests: write`\.$/),
    ]);
    expect(warnings.join()).not.toContain('secret-token');
  });

  test('a deployment that GitHub does not make is a warning with its sentence', async () => {
    github.before = ({ method, path }) =>
      method === 'POST' && path.endsWith('/deployments')
        ? { status: 409, body: { message: 'Conflict: x' } }
        : undefined;
    const reported = reporter({ pullRequest: undefined });
    reported.emit(started);
    await reported.finish(deployed);
    expect(warnings).toEqual([expect.stringContaining('Conflict: x')]);
    expect(github.statuses).toEqual([]);
  });

  test("escapes others' text in a comment", async () => {
    await reporter().finish({ ...deployed, reason: '@everyone <img src=x> [a](b) #1 -->' });
    expect(String(github.comments[0]?.['body']).split('\n').slice(1).join('\n')).not.toMatch(
      /@everyone|<img|\]\(b\)| #1/,
    );
  });

  test('a comment of any size fits', async () => {
    const logs = Array.from({ length: 100 }, () => ({ message: 'é€😀'.repeat(900) }));
    await reporter().finish({ ...deployed, kind: 'failed', logs });
    expect(Buffer.byteLength(String(github.comments[0]?.['body']))).toBeLessThan(65_536);
  });
});

describe('the last status', () => {
  test.each(outcomeKinds)('of %s is a success only if the revision is live without objections', (kind) => {
    const { state } = outcomeStatus({ ...deployed, kind });
    expect(state === 'success').toBe(kind === 'deployed' || kind === 'unchanged');
  });

  test('shows no address that GitHub would refuse', () => {
    expect(outcomeStatus({ ...deployed, deploymentUrl: 'javascript:alert(1)' })).not.toHaveProperty('environmentUrl');
  });
});
