// Commands of comments by the Action alone: with GitHub's API and the real service, also where a run is killed.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import { runStep, type StepResult } from '../../src/demo/runner.ts';
import { LittleGitHub } from '../github/little-github.ts';
import { linkPackages } from '../installed-packages.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { openJourneyFixture, root, type JourneyFixture } from './fixture.ts';

const number = 12;
const github = new LittleGitHub();
let apiUrl = '';
let fixture: JourneyFixture;
let repository: Repository;
let deployed: StepResult['outputs'] = {};
let event: unknown;

const url = (): string => pathToFileURL(repository.folder).href;

beforeAll(async () => {
  apiUrl = await github.start();
  fixture = await openJourneyFixture();
  repository = await fixture.repository('talker', 'agents');
  github.people.set('mona', { permission: 'write', id: 5 });
  github.files.set(
    ':.github/landfall.yml',
    [
      'name: agents',
      'source: github',
      `repo-url: ${url()}`,
      'repo-ref: main',
      'graph-config-path: langgraph.json',
      `install-command: ${JSON.stringify(linkPackages)}`,
      'smoke-tests: [{ name: talks, assistant: talk, input: { input: you } }]',
      'preview: { when: command }',
    ].join('\n'),
  );
  await fixture.step(repository);
  await repository.edit('graph.ts', "'first'", "'second'");
  await repository.commit('Say something else');
  deployed = (await fixture.step(repository)).outputs;
  pullFrom(4711, await repository.head());
});
afterAll(async () => {
  await fixture?.close();
  await github.stop();
});

/** The pull request, with the head in this repository, whose id is 4711, or in another one. */
function pullFrom(id: number, sha: string): void {
  const repo = { id: 4711, full_name: 'acme/agents', html_url: url(), default_branch: 'main' };
  github.pulls.set(number, {
    number,
    state: 'open',
    merged: false,
    locked: false,
    labels: [],
    head: { ref: 'topic', sha, repo: { ...repo, id } },
    base: { ref: 'main', repo },
  });
}

/** Mona comments, and GitHub starts the workflow. */
async function comment(body: string, given: Parameters<typeof step>[0] = {}): Promise<StepResult> {
  const user = { login: 'mona', id: 5, type: 'User' };
  const at = new Date().toISOString();
  const row = { id: github.nextId(), body, user, created_at: at, updated_at: at, issue_url: `/issues/${number}` };
  github.comments.push(row);
  event = { action: 'created', issue: { number, pull_request: {} }, comment: row, sender: user };
  return step(given);
}

/** Runs the workflow of the last comment. */
const step = async ({
  baseUrl = fixture.service.url,
  attempt = 1,
  cancel,
}: { baseUrl?: string; attempt?: number; cancel?: AbortSignal } = {}): Promise<StepResult> =>
  runStep({
    main: join(root, 'dist/index.js'),
    workspace: repository.folder,
    ...(cancel ? { cancel } : {}),
    event,
    inputs: {
      mode: 'command',
      'base-url': baseUrl,
      'api-key': fixture.service.apiKey,
      'github-token': 'token-of-github',
      'github-deployment': 'true',
      'poll-seconds': '0.2',
      'timeout-minutes': '2',
      wait: 'true',
      comment: 'true',
    },
    github: {
      GITHUB_API_URL: apiUrl,
      GITHUB_SERVER_URL: pathToFileURL(join(repository.folder, '../..')).href,
      GITHUB_REPOSITORY: 'acme/agents',
      GITHUB_REF: 'refs/heads/main',
      GITHUB_SHA: await repository.head(),
      GITHUB_EVENT_NAME: 'issue_comment',
      GITHUB_ACTOR: 'mona',
      GITHUB_TRIGGERING_ACTOR: 'mona',
      GITHUB_RUN_ID: '900',
      GITHUB_RUN_ATTEMPT: String(attempt),
    },
  });

const answers = (): string[] =>
  github.comments.filter(({ user }) => JSON.stringify(user).includes('Bot')).map(({ body }) => String(body));
const said = async (): Promise<string> => (await fixture.ask(deployed['deployment-url'], 'you')).said;
const revisions = () => fixture.revisions(deployed['deployment-id']);

test('/rollback: the former revision serves again, once for its comment', async () => {
  expect(await said()).toBe('second you');
  const done = await comment('/rollback');
  expect(done).toMatchObject({
    exitCode: 0,
    outputs: { outcome: 'rolled-back', command: 'rollback', 'command-outcome': 'ran' },
  });
  expect(await said()).toBe('first you');
  expect(answers()).toEqual([expect.stringMatching(/### ✅ <code>\/rollback<\/code> by <code>mona<\/code>/)]);
  expect(github.deployments).toMatchObject([{ environment: 'agents', transient_environment: false }]);
  expect(await step({ attempt: 2 })).toMatchObject({ exitCode: 0, outputs: { outcome: 'neutral', changed: 'false' } });
  expect(await revisions()).toHaveLength(3);
});

test('a run that is killed once its request was sent does nothing twice when it is started again', async () => {
  const lossy = await startCuttingProxy(fixture.service.url, (request) =>
    /^POST .*\/redeploy$/.test(request) ? 'answer lost' : 'passes',
  );
  const killed = new AbortController();
  const cancelled = comment('/rollback', { baseUrl: lossy.url, cancel: killed.signal });
  await expect
    .poll(() => lossy.requests.filter((each) => /^POST .*\/redeploy$/.test(each)).length, { timeout: 120_000 })
    .toBeGreaterThan(0);
  killed.abort();
  await cancelled;
  await lossy.close();
  await step({ attempt: 2 });
  await expect.poll(said, { timeout: 120_000 }).toBe('second you');
  expect(await revisions()).toHaveLength(4);
  expect(answers()).toHaveLength(1);
});

test('/preview of a fork is refused, then made of the commit that is named, and of no other', async () => {
  await repository.branch('topic');
  await repository.edit('graph.ts', "'second'", "'forked'");
  const head = await repository.commit('Say what a fork says');
  pullFrom(99, head);
  const refused = await comment('/preview');
  expect(refused).toMatchObject({ exitCode: 0, outputs: { outcome: 'neutral', 'command-outcome': 'fork-commit' } });
  expect(answers()[0]).toContain(`/preview <code>${head}</code>`);
  const made = await comment(`/preview ${head}`);
  expect(made).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', command: 'preview' } });
  expect((await fixture.ask(made.outputs['deployment-url'], 'you')).said).toBe('forked you');
  expect(answers()).toEqual([expect.stringMatching(/Preview of pull request 12[^]*### ✅ <code>\/preview/)]);
  await repository.edit('graph.ts', "'forked'", "'pushed'");
  pullFrom(99, await repository.commit('Push something else'));
  const stale = await comment(`/preview ${head}`);
  expect(stale.outputs).toMatchObject({ outcome: 'neutral', 'command-outcome': 'not-pull-head' });
  expect((await fixture.ask(made.outputs['deployment-url'], 'you')).said).toBe('forked you');
});

test('a checkout of the pull request carries out nothing', async () => {
  event = JSON.parse(JSON.stringify(event));
  const head = await repository.head();
  await repository.branch('main');
  await repository.goBackTo(`${head}~2`);
  const sha = await repository.head();
  await repository.goBackTo(head);
  const refused = await runStep({
    main: join(root, 'dist/index.js'),
    workspace: repository.folder,
    event,
    inputs: { mode: 'command', 'base-url': fixture.service.url, 'api-key': 'k', 'github-token': 't' },
    github: {
      GITHUB_API_URL: apiUrl,
      GITHUB_REPOSITORY: 'acme/agents',
      GITHUB_SHA: sha,
      GITHUB_EVENT_NAME: 'issue_comment',
    },
  });
  expect(refused).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused', changed: 'false' } });
});
