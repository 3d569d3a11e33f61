import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import {
  deploymentId,
  firstRevision,
  nextRevision,
  startControlStub,
  type ControlStub,
  type StubSettings,
} from '../action/control-stub.ts';
import { folderOf, runCli, runHere, type CliRun } from './run-cli.ts';

let stub: ControlStub | undefined;
afterEach(async () => {
  await stub?.close();
  stub = undefined;
});

const image = ['--name', 'echo', '--source', 'external_docker', '--image-uri', 'echo:2', '--poll-seconds', '0.1'];
const key = 'key-of-the-service';

async function result(args: string[], settings: StubSettings, run: CliRun = {}) {
  stub = await startControlStub(settings);
  const env = { LANDFALL_BASE_URL: stub.url, LANDFALL_API_KEY: key, ...run.env };
  return run.onOutput ? runCli(args, { ...run, env }) : runHere(args, { ...run, env });
}

describe('a deploy run on a terminal', () => {
  test('plan prints the changes, writes nothing and exits with 0', async () => {
    const end = await result(['plan', ...image], { status: 'DEPLOYED' });
    expect(end).toMatchObject({ code: 0, err: '' });
    expect(end.out).toContain('source_revision_config.image_uri: echo:1 -> echo:2');
    expect(end.out).toMatch(/^planned: /m);
    expect(end.out).toContain(`Deployment: ${deploymentId}`);
    expect(stub?.written).toEqual([]);
  });

  test('deploy without waiting exits with 0 and prints the new revision', async () => {
    const end = await result(['deploy', ...image, '--wait', 'false'], { status: 'CREATING' });
    expect(end.code).toBe(0);
    expect(end.out).toMatch(/^started: /m);
    expect(end.out).toContain(`Revision: ${nextRevision}`);
    expect(stub?.written).toEqual([{ source_revision_config: { image_uri: 'echo:2' } }]);
  });

  test('a deploy of a commit says that uncommitted changes are not in it', async () => {
    const { path, remove } = folderOf({ 'agent.ts': 'one' });
    onTestFinished(remove);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: path });
    git('init', '--quiet', '--initial-branch=main');
    git('add', '.');
    git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', 'commit', '--quiet', '--message=one');
    const source = ['--source', 'github', '--repo-url', path, '--repo-ref', 'main', '--name', 'echo'];
    const deploy = () =>
      result(['deploy', ...source, '--graph-config-path', 'a.json', '--wait', 'false'], settings, { cwd: path });
    const settings = { status: 'CREATING' } as const;
    const note = 'Note: uncommitted changes here are not deployed: main of the repository is';
    expect((await deploy()).out).not.toContain(note);
    await stub?.close();
    writeFileSync(join(path, 'agent.ts'), 'two');
    expect((await deploy()).out).toContain(note);
  });

  test('a failed revision exits with 1 and prints its log', async () => {
    const end = await result(['deploy', ...image], { status: 'DEPLOY_FAILED' });
    expect(end.code).toBe(1);
    expect(end.out).toContain('DEPLOY_FAILED');
    expect(end.out).toContain('line of a log');
    expect(end.out).toMatch(/^failed: /m);
  });

  test('smoke without a reachable live agent is unproven, which is no success', async () => {
    const tests = '[{name: hello, assistant: echo, input: {}, attempts: 1, timeout: 200ms}]';
    const requests = ['smoke', '--name', 'echo', '--agent-url', 'http://127.0.0.1:9', '--smoke-tests', tests];
    const end = await result(requests, { status: 'DEPLOYED' });
    expect(end.code).toBe(1);
    expect(end.out).toMatch(/^unproven: /m);
  });

  test('smoke sends each case of a file, and reports it under its own name', async () => {
    const asked: unknown[] = [];
    const agent = createServer((request, response) => {
      const respond = async (): Promise<void> => {
        const { input } = z.looseObject({ input: z.object({ number: z.number() }) }).parse(await json(request));
        asked.push(input);
        const values = JSON.stringify({ reply: String(input.number * 2) });
        response.setHeader('content-type', 'text/event-stream');
        response.end(`event: metadata\ndata: {"run_id":"r"}\n\nevent: values\ndata: ${values}\n\n`);
      };
      void respond();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void agent.close());
    await once(agent, 'listening');
    const { port } = z.object({ port: z.number() }).parse(agent.address());
    const { path, remove } = folderOf({
      'qa/doubles.yaml': `- vars: { n: 2 }
  assert: [{ type: equals, value: 4 }]
- vars: { n: 3 }
  description: three
  assert: [{ type: equals, value: 7 }]
`,
    });
    onTestFinished(remove);
    const tests =
      "[{ name: doubles, assistant: echo, cases: qa/doubles.yaml, input: { number: '{{n}}' }, answer: $.reply, attempts: 1 }]";
    const requests = ['smoke', '--name', 'echo', '--agent-url', `http://127.0.0.1:${port}`, '--smoke-tests', tests];
    const end = await result(requests, { status: 'DEPLOYED' }, { cwd: path });
    expect(asked).toEqual([{ number: 2 }, { number: 3 }]);
    expect(end.code).toBe(1);
    expect(end.out).toMatch(/doubles: 1.*passed/);
    expect(end.out).toMatch(/doubles: three.*failed/);
    const counted = await result([...requests, '--tries', '7', '--json'], { status: 'DEPLOYED' }, { cwd: path });
    expect(asked).toHaveLength(2 + 2 * 7);
    expect(JSON.parse(counted.out)).toMatchObject({
      smoke_tests: [
        { verdict: 'passed', answers: 7, right_answers: 7 },
        { verdict: 'failed', answers: 7, right_answers: 0 },
      ],
    });
    const refused = await result([...requests, '--tries', '1001'], { status: 'DEPLOYED' }, { cwd: path });
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--tries: tries is a whole number') });
    const rated = '[{name: hi, assistant: a, input: {}, expect: {status: success}, pass-rate: 0.9}]';
    const tooFew = await result([...requests, '--smoke-tests', rated, '--tries', '7'], { status: 'DEPLOYED' });
    expect(tooFew).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        '--tries: tries of the smoke test hi must allow a verdict, which takes at least 15 answers to pass and 5 to fail. 98 find this drop with 99 %.',
      ),
    });
  });

  test('rollback without a former revision says why there is none', async () => {
    const end = await result(['rollback', '--name', 'echo'], { status: 'DEPLOYED' });
    expect(end.code).toBe(1);
    expect(end.out).toContain(`no revision was live before ${firstRevision}`);
  });

  test('--json prints one line to stdout, and progress to stderr', async () => {
    const end = await result(['plan', ...image, '--json'], { status: 'DEPLOYED' });
    expect(end.code).toBe(0);
    expect(end.out.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(end.out)).toMatchObject({
      outcome: 'planned',
      passes: true,
      plan: 'patch',
      deployment_id: deploymentId,
      changed: false,
    });
    expect(end.err).toMatch(/^Plan: patch/m);
  });

  test('prints no key, no secret of the environment, and none that the service returns', async () => {
    const secrets = ['canary-7f3a9c-value', 'secret-of-the-service', key];
    const end = await result(
      ['deploy', ...image, '--secrets', 'TOKEN', '--json'],
      { status: 'DEPLOY_FAILED', secrets: [{ name: 'OLD', value: 'secret-of-the-service' }] },
      { env: { TOKEN: 'canary-7f3a9c-value' } },
    );
    expect(end.code).toBe(1);
    expect(JSON.stringify(stub?.written)).toContain('canary-7f3a9c-value');
    for (const secret of secrets) expect(end.out + end.err).not.toContain(secret);
  });

  test('reports an unreachable service with what to check', async () => {
    const env = { LANDFALL_BASE_URL: 'http://127.0.0.1:9', LANDFALL_API_KEY: key };
    const end = await runHere(['plan', ...image, '--timeout-minutes', '0.05'], { env });
    expect(end.code).toBe(1);
    expect(end.out).toContain('base-url');
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s ends it within two seconds, with the ids', async (signal) => {
    let sentAt = 0;
    const end = await result(
      ['deploy', ...image],
      { status: 'BUILDING' },
      {
        onOutput: (text, send) => {
          if (sentAt > 0 || !text.includes('BUILDING')) return;
          sentAt = performance.now();
          // A terminal sends it to the whole process group, so it may arrive more than once.
          send(signal);
          send(signal);
        },
      },
    );
    expect(performance.now() - sentAt).toBeLessThan(2000);
    expect(end.code).toBe(1);
    expect(end.out).toMatch(/^interrupted: /m);
    expect(end.out).toContain(`Deployment: ${deploymentId}`);
    expect(end.out).toContain(`Revision: ${nextRevision}`);
  });
});

describe('a deploy that is killed', () => {
  const untilKilled: CliRun = {
    onOutput: (text, send) => {
      if (text.includes('BUILDING')) send('SIGKILL');
    },
  };
  const again = (args: string[]) =>
    runHere(args, { env: { LANDFALL_BASE_URL: stub?.url ?? '', LANDFALL_API_KEY: key } });

  test('goes on with --resume, sends nothing again, and leaves nothing to resume', async () => {
    const killed = await result(['deploy', ...image], { status: 'BUILDING' }, untilKilled);
    expect(killed.code).toBeNull();
    stub?.becomes('DEPLOYED');
    const other = await again(['deploy', ...image, '--image-uri', 'echo:3', '--resume']);
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining('was of another commit or of other fields') });
    const resumed = await again(['deploy', ...image, '--resume']);
    expect(resumed.out).toMatch(/^Going on with the deploy that was interrupted while its revision was followed at/m);
    expect(resumed.out).toMatch(/^deployed: /m);
    expect(resumed).toMatchObject({ code: 0, out: expect.stringContaining(`Revision: ${nextRevision}`) });
    expect(stub?.written).toHaveLength(1);
    const over = await again(['deploy', ...image, '--resume']);
    expect(over).toMatchObject({ code: 2, err: expect.stringContaining('--resume: no interrupted run') });
  });

  test('goes on from the file that --journal names, which only its owner may read', async () => {
    const { path, remove } = folderOf({});
    onTestFinished(remove);
    const journal = ['--journal', join(path, 'kept', 'deploy.json')];
    const secrets = ['--secrets', 'TOKEN'];
    const env = { TOKEN: 'canary-7f3a9c-value' };
    await result(['deploy', ...image, ...secrets, ...journal], { status: 'BUILDING' }, { ...untilKilled, env });
    const file = join(path, 'kept', 'deploy.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = readFileSync(file, 'utf8');
    expect(kept).not.toContain(env.TOKEN);
    stub?.becomes('DEPLOYED');
    const run = { env: { LANDFALL_BASE_URL: stub?.url ?? '', LANDFALL_API_KEY: key, ...env } };
    const resumed = await runHere(['deploy', ...image, ...secrets, ...journal], run);
    expect(resumed).toMatchObject({ code: 0, out: expect.stringContaining('Going on with the deploy') });
    expect(readFileSync(file, 'utf8')).not.toContain('"kept"');
    for (const foreign of ['name: echo', kept.replace(nextRevision, firstRevision)]) {
      writeFileSync(file, foreign);
      const refused = await runHere(['deploy', ...image, ...journal], run);
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(`--journal: ${file} is there and is no`) });
      expect(readFileSync(file, 'utf8')).toBe(foreign);
    }
  });
});
