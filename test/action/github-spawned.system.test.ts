import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runStep, type Step, type StepResult } from '../../src/demo/runner.ts';
import { LittleGitHub } from '../github/little-github.ts';
import { startControlStub, type ControlStub } from './control-stub.ts';

const main = join(import.meta.dirname, '../../dist/index.js');
const head = 'b'.repeat(40);

let github: LittleGitHub;
let apiUrl: string;
let stub: ControlStub;
let workspace: string;

beforeEach(async () => {
  github = new LittleGitHub();
  apiUrl = await github.start();
  stub = await startControlStub({ status: 'DEPLOY_FAILED' });
  workspace = await mkdtemp(join(tmpdir(), 'landfall-action-'));
});
afterEach(async () => {
  await github.stop();
  await stub.close();
  await rm(workspace, { recursive: true, force: true });
});

const run = (inputs: Record<string, string>, over: Partial<Step> = {}): Promise<StepResult> =>
  runStep({
    main,
    workspace,
    github: {
      GITHUB_REPOSITORY: 'acme/agents',
      GITHUB_SHA: 'a'.repeat(40),
      GITHUB_REF: 'refs/pull/12/merge',
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_API_URL: apiUrl,
      GITHUB_RUN_ID: '900',
      GITHUB_RUN_ATTEMPT: '1',
      ...over.github,
    },
    env: over.env ?? {},
    event: over.event ?? {
      pull_request: { number: 12, head: { ref: 'x', sha: head, repo: { full_name: 'acme/agents' } } },
    },
    inputs: {
      'base-url': stub.url,
      'api-key': 'key-of-the-service',
      name: 'echo',
      source: 'external_docker',
      'image-uri': 'echo:2',
      'poll-seconds': '0.1',
      ...inputs,
    },
  });

test('with a token the step reports to the pull request and a GitHub Deployment', async () => {
  const step = await run({ 'github-token': 'token-of-github', 'github-deployment': 'true', environment: 'preview-12' });
  expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed' } });
  expect(github.comments.map(({ body }) => String(body))).toEqual([expect.stringContaining('## ❌ echo: failed')]);
  expect(github.deployments).toMatchObject([{ ref: head, environment: 'preview-12', transient_environment: true }]);
  expect(github.statuses.map(({ state }) => state)).toEqual(['in_progress', 'failure']);
  expect(step.log.replace(/^::add-mask::.*$/gm, '')).not.toContain('token-of-github');
});

test('without a token the step sends no request to GitHub', async () => {
  await run({});
  expect(github.requests).toEqual([]);
});

test('a token that may not write costs a warning, and changes nothing about the end', async () => {
  github.before = ({ method }) =>
    method === 'POST' ? { status: 403, body: { message: 'not accessible' } } : undefined;
  const step = await run({ 'github-token': 'token-of-github' });
  expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed' } });
  expect(step.log).toContain('::warning::The comment was not written');
});

const reporting = { 'github-token': 'token-of-github', 'github-deployment': 'true' };

test('reports that cannot be written cost warnings, and the others follow', async () => {
  const env = { GITHUB_STEP_SUMMARY: workspace, GITHUB_OUTPUT: join(workspace, 'absent') };
  const step = await run(reporting, { env });
  expect(step.exitCode).toBe(1);
  expect(step.log).toContain('::error::failed: ');
  expect(step.log).toContain('::warning::The outputs were not set');
  expect(step.log).toContain('::warning::The job summary was not written');
  expect(step.log).not.toMatch(/^\s+at /m);
  expect(github.comments).toHaveLength(1);
  expect(github.statuses.map(({ state }) => state)).toEqual(['in_progress', 'failure']);
});

test('a refused step is reported where a success was before', async () => {
  const step = await run({ ...reporting, 'image-uri': 'two words' });
  expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
  expect(github.comments.map(({ body }) => String(body))).toEqual([expect.stringContaining('## ❌')]);
  expect(github.deployments).toMatchObject([{ ref: head, environment: 'echo' }]);
  expect(github.statuses).toMatchObject([{ state: 'error' }]);
});

test('a comment on a pull request is a run of its head, which GitHub knows', async () => {
  github.pulls.set(12, { number: 12, head: { ref: 'x', sha: head, repo: { full_name: 'acme/agents' } } });
  const event = { issue: { number: 12, pull_request: {} } };
  await run(reporting, { event, github: { GITHUB_EVENT_NAME: 'issue_comment', GITHUB_REF: 'refs/heads/main' } });
  expect(github.deployments).toMatchObject([{ ref: head, transient_environment: true }]);
  expect(github.comments).toHaveLength(1);
});

test('a push names its pull request and its commit by inputs', async () => {
  const commit = 'c'.repeat(40);
  await run({ ...reporting, commit, 'pull-request': '12' }, { event: {} });
  expect(github.deployments).toMatchObject([{ ref: commit }]);
  expect(github.comments).toHaveLength(1);
});

test('the run of Dependabot without a key is neutral on a pull request alone', async () => {
  const as = { github: { GITHUB_ACTOR: 'dependabot[bot]' } };
  expect(await run({ 'api-key': '' }, as)).toMatchObject({ exitCode: 0, outputs: { outcome: 'neutral' } });
  const pushed = await run({ 'api-key': '' }, { ...as, event: {} });
  expect(pushed).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
  expect(pushed.log).toContain('Dependabot secrets');
});

test('an event with a byte order mark is read', async () => {
  const path = join(workspace, 'event.json');
  await writeFile(path, `\uFEFF${JSON.stringify({ pull_request: { number: 12, head: { sha: head } } })}`);
  await run(reporting, { env: { GITHUB_EVENT_PATH: path } });
  expect(github.comments).toHaveLength(1);
});

test('an event that is not JSON costs a warning', async () => {
  const path = join(workspace, 'event.json');
  await writeFile(path, '{');
  const step = await run({}, { env: { GITHUB_EVENT_PATH: path } });
  expect(step.log).toContain('::warning::The file of the event (GITHUB_EVENT_PATH) was not read: it is not JSON.');
  expect(step.outputs['outcome']).toBe('failed');
});
