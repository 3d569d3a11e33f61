import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runStep, type StepResult } from '../../src/demo/runner.ts';
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

const run = (inputs: Record<string, string>): Promise<StepResult> =>
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
    },
    event: { pull_request: { number: 12, head: { ref: 'x', sha: head, repo: { full_name: 'acme/agents' } } } },
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
