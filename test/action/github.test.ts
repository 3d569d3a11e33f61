import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readGitHubInputs } from '../../src/action/read-request.ts';
import { connectGitHub, expanded, type ConnectedGitHub } from '../../src/action/github-connection.ts';
import { runReportOf, type RunFacts } from '../../src/action/create-run-reporter.ts';
import { GitHubReporter, type RunReport } from '../../src/action/github-reporter.ts';
import { statusOf } from '../../src/github/client.ts';
import { outcomeShown } from '../../src/github/deployment.ts';
import { outcomeKinds, type Outcome } from '../../src/deploy/outcome-types.ts';
import type { DeployEvent } from '../../src/deploy/deploy-event.ts';
import { LittleGitHub } from '../github/little-github.ts';

const commit = 'c0ffee0000000000000000000000000000000001';
const run: RunReport = {
  repository: { owner: 'acme', name: 'agents' },
  commit,
  externalId: '900-1 echo',
  name: 'echo',
  about: 'echo',
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
    repository: 'acme/agents',
    sha: 'merge',
    apiUrl: 'https://api.github.com',
    serverUrl: 'https://github.com',
    runId: 900,
    runAttempt: 2,
    payload: { pull_request: { number: 12 } },
    headSha: commit,
  };
  const reporting = { token: 't', comment: true, deployment: true, environment: undefined };
  const progress = { mode: 'deploy', name: 'echo' } as const;

  test('a pull request uses its head commit, a comment and a transient environment', () => {
    expect(runReportOf(reporting, facts, progress)).toEqual({
      ...run,
      externalId: '900-2 echo',
      environment: { name: 'echo', production: false, transient: true },
    });
  });

  test.each([
    ['production of a branch is production', 'production', {}, true],
    ['prod too', 'Prod', {}, true],
    ['staging is not', 'staging', {}, false],
    ['a pull request never is', 'production', { pull_request: { number: 1 } }, false],
  ])('%s', (_, environment, payload, production) => {
    expect(runReportOf({ ...reporting, environment }, { ...facts, payload }, progress).environment).toMatchObject({
      production,
    });
  });

  test.each(['plan', 'smoke', 'rollback'] as const)('%s puts no commit anywhere, so it makes no deployment', (mode) => {
    expect(runReportOf(reporting, facts, { mode, name: 'echo' }).environment).toBeUndefined();
  });

  test.each([
    ['the deployment', undefined, 'echo'],
    ['the deployment and its environment', 'staging', 'echo in staging'],
  ])('a comment names %s in every mode', (_, environment, about) => {
    for (const mode of ['plan', 'deploy', 'smoke'] as const) {
      expect(runReportOf({ ...reporting, environment }, facts, { mode, name: 'echo' }).about).toBe(about);
    }
  });

  test('a push has no comment', () => {
    expect(runReportOf(reporting, { ...facts, payload: {}, headSha: undefined }, progress)).not.toHaveProperty(
      'pullRequest',
    );
  });
});

describe('a request', () => {
  test('has its parameters in the address, and the others in query or body', () => {
    expect(
      expanded('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
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
    await reported.concluded(deployed);
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
    await reporter().concluded(deployed);
    await reporter().concluded({ ...deployed, kind: 'failed', passes: false });
    expect(github.comments).toHaveLength(1);
    expect(github.comments[0]?.['body']).toContain('## ❌ echo: failed');
  });

  test('that begins nothing makes no deployment', async () => {
    await reporter().concluded({ ...deployed, kind: 'unchanged', changed: false });
    expect(github.deployments).toEqual([]);
    expect(github.comments).toHaveLength(1);
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
    await reported.concluded(deployed);
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
    await reported.concluded(deployed);
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
    await reported.concluded(deployed);
    expect(warnings).toEqual([expect.stringContaining('Conflict: x')]);
    expect(github.statuses).toEqual([]);
  });

  test("escapes others' text in a comment", async () => {
    await reporter().concluded({ ...deployed, reason: '@everyone <img src=x> [a](b) #1 -->' });
    expect(String(github.comments[0]?.['body']).split('\n').slice(1).join('\n')).not.toMatch(
      /@everyone|<img|\]\(b\)| #1/,
    );
  });

  test('a comment of any size fits', async () => {
    const logs = Array.from({ length: 100 }, () => ({ message: 'é€😀'.repeat(900) }));
    await reporter().concluded({ ...deployed, kind: 'failed', logs });
    expect(Buffer.byteLength(String(github.comments[0]?.['body']))).toBeLessThan(65_536);
  });
});

describe('the last status', () => {
  test.each(outcomeKinds)('of %s is a success only if the revision is live without objections', (kind) => {
    const { state } = outcomeShown({ ...deployed, kind });
    expect(state === 'success').toBe(kind === 'deployed' || kind === 'unchanged');
  });

  test('shows no address that GitHub would refuse', () => {
    expect(outcomeShown({ ...deployed, deploymentUrl: 'javascript:alert(1)' })).not.toHaveProperty('environmentUrl');
  });
});
