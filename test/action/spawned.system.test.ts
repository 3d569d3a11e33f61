import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runStep, type StepResult } from '../../src/demo/runner.ts';
import { deploymentId, firstRevision, nextRevision, startControlStub, type ControlStub } from './control-stub.ts';

const main = join(import.meta.dirname, '../../dist/index.js');
const canary = 'canary-7f3a9c-value';

let workspace = '';
let stub: ControlStub | undefined;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'landfall-action-'));
});
afterEach(async () => {
  await stub?.close();
  stub = undefined;
  await rm(workspace, { recursive: true, force: true });
});

interface Requested {
  inputs?: Record<string, string>;
  env?: Record<string, string>;
  github?: Record<string, string>;
  event?: unknown;
  cancel?: AbortSignal;
  onLine?: (line: string) => void;
}

const push = {
  GITHUB_REPOSITORY: 'acme/echo',
  GITHUB_SHA: 'a'.repeat(40),
  GITHUB_REF: 'refs/heads/main',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_SERVER_URL: 'https://github.com',
};

const run = ({ inputs = {}, github = push, ...rest }: Requested): Promise<StepResult> =>
  runStep({
    main,
    workspace,
    github,
    inputs: {
      'base-url': stub?.url ?? 'http://127.0.0.1:9',
      'api-key': 'key-of-the-service',
      name: 'echo',
      source: 'external_docker',
      'image-uri': 'echo:2',
      'poll-seconds': '0.1',
      ...inputs,
    },
    ...rest,
  });

/** What a person reads: everything but the commands that the runner takes out. */
const readable = ({ log }: StepResult): string =>
  log
    .split('\n')
    .filter((line) => !line.startsWith('::add-mask::'))
    .join('\n');

describe('the step, spawned as a runner does', () => {
  test('is neutral on a pull request of a fork, which gets no secrets', async () => {
    const step = await run({
      inputs: { 'api-key': '' },
      event: { pull_request: { number: 1, head: { ref: 'x', sha: 'b', repo: { full_name: 'fork/echo' } } } },
    });
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'neutral' } });
  });

  test('without a key outside a fork it names the missing input', async () => {
    const step = await run({ inputs: { 'api-key': '' } });
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
    expect(step.log).toContain('api-key');
  });

  test('a plan writes nothing and says what would change', async () => {
    stub = await startControlStub({ status: 'DEPLOYED' });
    const step = await run({ inputs: { mode: 'plan' } });
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'planned', plan: 'patch', changed: 'false' } });
    expect(stub.written).toEqual([]);
    expect(step.log).toContain('source_revision_config.image_uri: echo:1 -> echo:2');
    expect(step.summary).toContain('Plan: patch');
  });

  test('wait: false ends once the revision is started, with its id', async () => {
    stub = await startControlStub({ status: 'CREATING' });
    const step = await run({ inputs: { wait: 'false' } });
    expect(step).toMatchObject({
      exitCode: 0,
      outputs: { outcome: 'started', 'deployment-id': deploymentId, 'revision-id': nextRevision, changed: 'true' },
    });
    expect(stub.written).toEqual([{ source_revision_config: { image_uri: 'echo:2' } }]);
  });

  test('a failed revision fails the step, with its log lines escaped', async () => {
    stub = await startControlStub({ status: 'DEPLOY_FAILED' });
    const step = await run({});
    expect(step).toMatchObject({
      exitCode: 1,
      outputs: { outcome: 'failed', 'revision-id': nextRevision, 'active-revision-id': firstRevision },
    });
    expect(readable(step)).toContain('line of a log');
    expect(readable(step).split('\n')).not.toContainEqual(expect.stringMatching(/^\s*::error::line of a log/));
    expect(step.summary).toContain('Last log lines');
  });

  test('the log is in groups, each closed before the next one and before the outcome', async () => {
    stub = await startControlStub({ status: 'DEPLOY_FAILED' });
    const lines = (await run({})).log.split('\n');
    expect(lines.filter((line) => /^::(?:end)?group::/.test(line))).toEqual([
      '::group::Look and plan',
      '::endgroup::',
      '::group::Rollout',
      '::endgroup::',
    ]);
    expect(lines.lastIndexOf('::endgroup::')).toBeLessThan(lines.findIndex((line) => line.startsWith('failed: ')));
  });

  test('a skipped revision is reported as superseded, never as deployed', async () => {
    stub = await startControlStub({ status: 'SKIPPED' });
    expect(await run({})).toMatchObject({ exitCode: 1, outputs: { outcome: 'superseded' } });
  });

  test('with on-superseded: pass it passes, and still reports superseded', async () => {
    stub = await startControlStub({ status: 'SKIPPED' });
    const step = await run({ inputs: { 'on-superseded': 'pass' } });
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'superseded' } });
  });

  test('a revision that is not live in time is timed out', async () => {
    stub = await startControlStub({ status: 'DEPLOYING' });
    const step = await run({ inputs: { 'timeout-minutes': '0.05' } });
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'timed-out' } });
    expect(step.log).toContain('DEPLOYING');
  });

  test('cancelled, it sets its outputs, prints its ids and is gone within two seconds', async () => {
    stub = await startControlStub({ status: 'BUILDING' });
    const cancel = new AbortController();
    let cancelledAt = 0;
    const step = await run({
      cancel: cancel.signal,
      onLine: (line) => {
        if (!line.includes('BUILDING') || cancelledAt > 0) return;
        cancelledAt = performance.now();
        cancel.abort();
      },
    });
    expect(performance.now() - cancelledAt).toBeLessThan(2000);
    expect(step).toMatchObject({
      exitCode: 1,
      outputs: { outcome: 'interrupted', 'deployment-id': deploymentId, 'revision-id': nextRevision },
    });
    expect(step.log).toContain(nextRevision);
  });

  test('cancelled with a journal, its rerun goes on with the same revision', async () => {
    stub = await startControlStub({ status: 'BUILDING' });
    const cancel = new AbortController();
    const inputs = { journal: 'journal.json' };
    const onLine = (line: string): void => {
      if (line.includes('BUILDING')) cancel.abort();
    };
    expect(await run({ inputs, cancel: cancel.signal, onLine })).toMatchObject({ exitCode: 1 });
    stub.becomes('DEPLOYED');
    const step = await run({ inputs });
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', 'revision-id': nextRevision } });
    expect(step.log).toContain('Going on with the deploy that was interrupted');
    expect(stub.written).toHaveLength(1);
  });

  test('cancelled before its first request, it still sets its outputs', async () => {
    stub = await startControlStub({ status: 'BUILDING' });
    const cancel = new AbortController();
    const step = await run({ cancel: cancel.signal, onLine: () => cancel.abort() });
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'interrupted', changed: 'false' } });
    expect(stub.written).toEqual([]);
  });

  test('masks every secret before anything prints, those of the service too', async () => {
    stub = await startControlStub({
      status: 'DEPLOY_FAILED',
      secrets: [{ name: 'OLD', value: 'secret-of-the-service' }],
    });
    const step = await run({ inputs: { secrets: 'TOKEN' }, env: { TOKEN: canary } });
    const lines = step.log.split('\n');
    expect(lines[0]).toBe('::add-mask::key-of-the-service');
    expect(lines).toContain(`::add-mask::${canary}`);
    expect(lines).toContain('::add-mask::secret-of-the-service');
    for (const secret of [canary, 'secret-of-the-service', 'key-of-the-service']) {
      expect(readable(step)).not.toContain(secret);
      expect(step.summary).not.toContain(secret);
      expect(JSON.stringify(step.outputs)).not.toContain(secret);
    }
  });

  test('annotates every wrong line of the deploy file at once', async () => {
    await mkdir(join(workspace, '.github'));
    await writeFile(
      join(workspace, '.github/landfall.yml'),
      'deployments:\n  echo:\n    source: external_docker\n    image-ury: echo:2\n    on-failure: rolback\n',
    );
    const step = await run({ inputs: { name: '', source: '', 'image-uri': '', mode: 'deplyo' } });
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
    expect(step.log).toMatch(/::error title=Input mode::.*deploy/);
    expect(step.log).toMatch(/::error title=.*,file=\.github\/landfall\.yml,line=4,col=5::.*image-uri/);
    expect(step.log).toMatch(/::error title=.*,file=\.github\/landfall\.yml,line=5,col=\d+::.*rollback/);
  });

  test('leaves one of ten annotations to the sentence that it fails with', async () => {
    const wrong = Array.from({ length: 15 }, (_, index) => `stranger-${index}: 1`);
    await writeFile(join(workspace, 'landfall.yml'), ['name: echo', 'source: external_docker', ...wrong].join('\r\n'));
    const step = await run({ inputs: { name: '', source: '', 'image-uri': '', config: './landfall.yml' } });
    const errors = step.log.split('\n').filter((line) => line.startsWith('::error'));
    expect(errors).toHaveLength(10);
    expect(errors[0]).toContain('file=landfall.yml,line=3,col=1::');
    expect(errors.at(-1)).toMatch(
      /^::error::refused: 15 things are wrong in landfall\.yml: landfall\.yml:\d+:\d+: .* \(and 14 more\)\./,
    );
    expect(step.log).toContain('landfall.yml:17:1: `stranger-14` is not a field of a deployment');
  });

  test('says so where config names a folder, and where it names nothing', async () => {
    await mkdir(join(workspace, 'deploy'));
    const folder = await run({ inputs: { config: 'deploy' } });
    expect(folder).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
    expect(folder.log).toContain('::error title=Input config::config: this is a folder');
    const nothing = await run({ inputs: { config: 'deploy/none.yml' } });
    expect(nothing).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
    expect(nothing.log).toContain('::error title=Input config::');
    expect(nothing.log).toContain('actions/checkout');
    expect((await run({ inputs: { mode: 'deplyo' } })).log).not.toContain('actions/checkout');
  });

  test('an unreachable service is reported with the inputs to check', async () => {
    const step = await run({ inputs: { 'base-url': 'http://127.0.0.1:9', 'timeout-minutes': '0.05' } });
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed' } });
    expect(step.log).toContain('base-url');
  });
});
