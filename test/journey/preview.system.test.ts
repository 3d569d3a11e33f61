// The preview of a pull request: by the Action, GitHub's API and the real service, also where a run is killed.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import { runStep, type StepResult } from '../../src/demo/runner.ts';
import { runCli, type CliEnd } from '../cli/run-cli.ts';
import { LittleGitHub } from '../github/little-github.ts';
import { linkPackages } from '../installed-packages.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { openJourneyFixture, root, type JourneyFixture } from './fixture.ts';

const number = 12;
const github = new LittleGitHub();
let apiUrl = '';
let fixture: JourneyFixture;
let repository: Repository;
let production = '';
let head = '';

beforeAll(async () => {
  apiUrl = await github.start();
  fixture = await openJourneyFixture();
  repository = await fixture.repository('talker', 'agents');
  await mkdir(join(repository.folder, '.github'));
  await writeFile(join(repository.folder, '.github/landfall.yml'), deployFile());
  const deployed = await fixture.step(repository, { inputs: { secrets: 'MOOD' }, env: { MOOD: 'of production' } });
  production = deployed.outputs['deployment-id'] ?? '';
  await repository.branch('topic');
});
afterAll(async () => {
  await fixture?.close();
  await github.stop();
});

const deployFile = (): string => `
name: agents
source: github
repo-url: ${pathToFileURL(repository.folder).href}
repo-ref: main
graph-config-path: langgraph.json
install-command: ${linkPackages}
secrets: [MOOD, NEVER_GIVEN]
smoke-tests:
  - { name: talks, assistant: talk, input: { input: you }, against: live, tries: 20, decide-by: [pass-rate] }
preview: { secrets: [MOOD=PREVIEW_MOOD] }
`;

/** Runs the Action for an event of the pull request, as GitHub has it then. */
async function on(
  action: string,
  { baseUrl = fixture.service.url, cancel }: { baseUrl?: string; cancel?: AbortSignal } = {},
) {
  head = await repository.head();
  const repo = { id: 4711, full_name: 'acme/agents', html_url: pathToFileURL(repository.folder).href };
  const pull = {
    number,
    state: action === 'closed' ? 'closed' : 'open',
    labels: [],
    head: { ref: 'topic', sha: head, repo },
    base: { ref: 'main', repo },
  };
  github.pulls.set(number, pull);
  return runStep({
    main: join(root, 'dist/index.js'),
    workspace: repository.folder,
    ...(cancel ? { cancel } : {}),
    event: { action, number, pull_request: pull, repository: repo },
    env: { PREVIEW_MOOD: 'of previews' },
    inputs: {
      mode: 'preview',
      'base-url': baseUrl,
      'api-key': fixture.service.apiKey,
      'github-token': 'token-of-github',
      'github-deployment': 'true',
      'poll-seconds': '0.2',
      'timeout-minutes': '2',
    },
    github: {
      GITHUB_API_URL: apiUrl,
      GITHUB_SERVER_URL: pathToFileURL(join(repository.folder, '../..')).href,
      GITHUB_REPOSITORY: 'acme/agents',
      GITHUB_REF: `refs/pull/${number}/merge`,
      GITHUB_SHA: 'f'.repeat(40),
      GITHUB_EVENT_NAME: action === 'closed' ? 'pull_request_target' : 'pull_request',
      GITHUB_ACTOR: 'octocat',
      GITHUB_RUN_ID: '900',
      GITHUB_RUN_ATTEMPT: '1',
    },
  });
}

const previews = async () =>
  (await fixture.control.listDeployments({ name_contains: `agents-pr-${number}-`, limit: 100 })).resources;
const comments = (): string[] => github.comments.map(({ body }) => String(body));
const lastState = () => github.statuses.at(-1)?.['state'];
let preview: StepResult['outputs'] = {};

test('opened: a preview is live, compared with production, and shown', async () => {
  const step = await on('opened');
  expect(step).toMatchObject({
    exitCode: 0,
    outputs: { outcome: 'deployed', 'smoke-verdict': 'passed', plan: 'create' },
  });
  preview = step.outputs;
  const [made, ...others] = await previews();
  expect(others).toEqual([]);
  expect(made).toMatchObject({
    id: preview['deployment-id'],
    source_config: { build_on_push: false, deployment_type: 'dev' },
    secrets: [
      { name: 'MOOD', value: 'of previews' },
      { name: 'LANDFALL_PREVIEW', value: `4711/${number}/agents` },
    ],
  });
  expect(await fixture.ask(preview['deployment-url'], 'you')).toMatchObject({ said: 'first you', mood: 'of previews' });
  expect(comments()).toEqual([expect.stringMatching(/: deployed[\s\S]*Preview of pull request 12: removed when/)]);
  expect(comments()[0]).toContain('live 20 of 20');
  expect(github.deployments).toMatchObject([
    { ref: head, environment: `preview/pr-${number}`, transient_environment: true },
  ]);
  expect(lastState()).toBe('success');
});

test('pushed to: the same deployment has the new commit, and production its own', async () => {
  await repository.edit('graph.ts', "'first'", "'second'");
  await repository.commit('Say something else');
  const step = await on('synchronize');
  expect(step.outputs).toMatchObject({ outcome: 'deployed', 'deployment-id': preview['deployment-id'] });
  expect(await fixture.ask(preview['deployment-url'], 'you')).toMatchObject({ said: 'second you' });
  const [live] = await fixture.revisions(production);
  expect(live?.source_revision_config.repo_commit_sha).not.toBe(head);
  expect(comments()).toHaveLength(1);
});

test('closed: it is gone, its comment says so, and closing again passes', async () => {
  expect(await on('closed')).toMatchObject({ exitCode: 0, outputs: { outcome: 'deleted', changed: 'true' } });
  expect(await previews()).toEqual([]);
  expect(comments()).toEqual([
    expect.stringMatching(/Preview of <code>agents<\/code>: removed\n\nThe pull request was closed\./),
  ]);
  expect(lastState()).toBe('inactive');
  expect(await on('closed')).toMatchObject({ exitCode: 0, outputs: { outcome: 'deleted', changed: 'false' } });
  await fixture.control.getDeployment(production);
});

test('reopened: it is made again; a run whose responses are lost or that is ended leaves one', async () => {
  const lossy = await startCuttingProxy(fixture.service.url, (request) =>
    request === 'POST /v2/deployments' ? 'answer lost' : 'passes',
  );
  const ended = new AbortController();
  const cancelled = on('reopened', { baseUrl: lossy.url, cancel: ended.signal });
  await expect
    .poll(() => lossy.requests.filter((each) => each === 'POST /v2/deployments').length, { timeout: 120_000 })
    .toBeGreaterThan(0);
  ended.abort();
  expect((await cancelled).exitCode).toBe(1);
  await lossy.close();
  expect(await on('synchronize')).toMatchObject({ exitCode: 0 });
  expect(await previews()).toHaveLength(1);
});

test('a run that is killed while it removes leaves the rest to the next', async () => {
  const stuck = await startCuttingProxy(fixture.service.url, (request) =>
    request.startsWith('DELETE ') ? 'answer lost' : 'passes',
  );
  const ended = new AbortController();
  const cancelled = on('closed', { baseUrl: stuck.url, cancel: ended.signal });
  await expect.poll(() => stuck.requests.some((each) => each.startsWith('DELETE ')), { timeout: 120_000 }).toBe(true);
  ended.abort();
  await cancelled;
  await stuck.close();
  expect(await on('closed')).toMatchObject({ exitCode: 0, outputs: { outcome: 'deleted' } });
  expect(await previews()).toEqual([]);
});

test('the command line does the same for the pull request of any host', async () => {
  const { folder } = repository;
  const url = pathToFileURL(folder).href;
  const preview = (...args: string[]): Promise<CliEnd> =>
    runCli(['preview', '--json', '--pull-request', '13', '--repository-id', '4711', '--repository-url', url, ...args], {
      cwd: folder,
      env: {
        LANDFALL_BASE_URL: fixture.service.url,
        LANDFALL_API_KEY: fixture.service.apiKey,
        PREVIEW_MOOD: 'of previews',
      },
    });
  const head = ['--head-url', url, '--head-ref', 'topic', '--commit', await repository.head()];
  const opened = await preview(...head, '--poll-seconds', '0.2');
  const { outcome, name } = JSON.parse(opened.out);
  expect({ code: opened.code, outcome, name }).toMatchObject({ code: 0, outcome: 'deployed' });
  expect(name).toMatch(/^agents-pr-13-/);
  const closed = await preview('--closed', '--poll-seconds', '0.2');
  expect([closed.code, JSON.parse(closed.out)]).toMatchObject([0, { outcome: 'deleted', changed: true }]);
  expect(await preview('--closed')).toMatchObject({ code: 0 });
});
