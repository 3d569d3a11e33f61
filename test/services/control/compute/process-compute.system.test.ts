import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { AgentStart, RunningAgent } from '../../../../src/services/control/compute/compute.ts';
import {
  processCompute,
  type ProcessComputeDependencies,
} from '../../../../src/services/control/compute/process-compute.ts';
import { ask, fakeAgent, runs, specOf, until, type TriedSpec } from './agents.ts';

const atTheEnd: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

interface Tried {
  spec: TriedSpec;
  start: AgentStart;
}

async function tryStart(
  variables: Record<string, string> = {},
  settings: Partial<ProcessComputeDependencies> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Tried> {
  const spec = specOf(variables);
  atTheEnd.push(spec.remove);
  const start = await processCompute({ clock: systemClock, agentServer: fakeAgent, ...settings }).start(spec, signal);
  if (start.kind === 'running') atTheEnd.push(() => start.agent.stop());
  return { spec, start };
}

async function running(...requested: Parameters<typeof tryStart>): Promise<{ spec: TriedSpec; agent: RunningAgent }> {
  const { spec, start } = await tryStart(...requested);
  if (start.kind !== 'running') throw new Error(start.reason);
  return { spec, agent: start.agent };
}

async function reasonOf(tried: Promise<Tried>): Promise<string> {
  const { start } = await tried;
  if (start.kind === 'running') throw new Error('it runs');
  return start.reason;
}

test('a started agent responds only to requests with its token', async () => {
  const { agent } = await running();
  expect(await (await ask(agent, '/ok')).json()).toMatchObject({ ok: true, revision: 'r-1' });
  expect((await ask(agent, '/ok', 'a-guess')).status).toBe(401);
  expect(agent.origin).toMatch(/^unix:\/.+/);
});

test("an agent's environment has its secrets and platform variables only", async () => {
  process.env.DATABASE_URL = 'postgres://the-service-itself';
  atTheEnd.push(() => void delete process.env.DATABASE_URL);
  const { agent, spec } = await running({ MODEL_KEY: 'k-123', PORT: '1', DATABASE_URI: 'mine', NODE_ENV: 'test' });
  const seen = z.record(z.string(), z.string()).parse(await (await ask(agent, '/env')).json());
  expect(
    Object.keys(seen)
      .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_', '__CF_USER_TEXT_ENCODING'].includes(name))
      .toSorted(),
  ).toEqual([
    'DATABASE_URI',
    'HOME',
    'HOST',
    'LANDFALL_AGENT',
    'LANDFALL_AGENT_SOCKET',
    'LANDFALL_AGENT_TOKEN',
    'LANDFALL_DEPLOYMENT_ID',
    'LANDFALL_DRAIN_MS',
    'LANDFALL_GRAPH_CONFIG',
    'LANDFALL_REVISION_ID',
    'LANDFALL_WEBHOOK_PRIVATE',
    'MODEL_KEY',
    'NODE_ENV',
    'PATH',
    'PORT',
    'TMPDIR',
    'argv',
    'cwd',
  ]);
  expect(seen).toMatchObject({
    MODEL_KEY: 'k-123',
    NODE_ENV: 'test',
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URI: spec.databaseUrl,
    HOME: spec.program.homeFolder,
    TMPDIR: join(spec.program.homeFolder, 'tmp'),
    LANDFALL_GRAPH_CONFIG: spec.program.graphConfigFile,
    LANDFALL_DEPLOYMENT_ID: 'd-1',
    LANDFALL_WEBHOOK_PRIVATE: 'refuse',
    cwd: realpathSync(dirname(spec.program.graphConfigFile)),
    argv: process.execPath,
  });
  expect(seen.PATH?.startsWith(dirname(process.execPath))).toBe(true);
});

test("an agent's webhooks may use private networks if the operator allows it", async () => {
  const { agent } = await running({}, { privateWebhooks: true });
  expect(await (await ask(agent, '/env')).json()).toMatchObject({ LANDFALL_WEBHOOK_PRIVATE: 'allow' });
});

test('logs the output of an agent, masks its secrets and hides control lines', async () => {
  const { agent, spec } = await running({ MODEL_KEY: 'canary-value', FAKE_SAY: 'my key is canary-value' });
  await (await ask(agent, '/say')).text();
  await until(() => spec.lines.length === 2);
  expect(spec.lines).toEqual(['info: ***', 'error: said later']);
});

test('checks the health of an agent again until it is healthy', async () => {
  const { agent } = await running({ FAKE_START: 'slow' });
  expect((await ask(agent, '/ok')).status).toBe(200);
});

test('a failed start reports how it ended and its last line', async () => {
  expect(await reasonOf(tryStart({ FAKE_START: 'dies' }))).toBe(
    'The agent\'s process ended before it was healthy: exit code 1. Its last line: The graph "echo" has no export named graph.',
  );
});

test.each([
  ['never announces that it listens', 'silent'],
  ['never becomes healthy', 'ill'],
])('stops a start that %s in time', async (_, mode) => {
  expect(await reasonOf(tryStart({ FAKE_START: mode }, { startWithinMs: 400 }))).toContain('within 0.4 s');
});

test('an aborted start leaves nothing behind', async () => {
  const breaking = new AbortController();
  const pidFile = aFile();
  const starting = tryStart({ FAKE_START: 'silent', FAKE_CHILD: pidFile }, {}, breaking.signal);
  const pid = await childIn(pidFile);
  breaking.abort();
  expect(await reasonOf(starting)).toBe('The start was aborted.');
  await until(() => !runs(pid));
});

test('reports a missing agent server', async () => {
  expect(await reasonOf(tryStart({}, { agentServer: '/nowhere/main.ts' }))).toContain(
    "Cannot find module '/nowhere/main.ts'",
  );
});

test("a stop lets a request finish and ends the agent's children", async () => {
  const pidFile = aFile();
  const { agent } = await running({ FAKE_CHILD: pidFile });
  const pid = await childIn(pidFile);
  const slow = await ask(agent, '/slow');
  const stopped = Promise.all([agent.stop(), agent.stop()]);
  expect(await slow.text()).toBe('begun done');
  await stopped;
  expect(await agent.exited).toBe('exit code 0');
  await until(() => !runs(pid));
});

test('kills an agent that does not exit in time', async () => {
  const { agent } = await running({ FAKE_STOP: 'hangs' });
  await agent.stop(200);
  expect(await agent.exited).toBe('killed by SIGKILL');
});

test('no process can listen in place of an agent that exited', async () => {
  const { agent } = await running();
  await ask(agent, '/crash').catch(() => undefined);
  await agent.exited;
  const { protocol, port, pathname } = new URL(agent.origin);
  const standIn = createServer();
  atTheEnd.push(() => void standIn.close());
  const listening = new Promise<string>((resolve) => {
    standIn.once('listening', () => resolve('listens')).once('error', () => resolve('refused'));
  });
  if (protocol === 'unix:') standIn.listen(pathname);
  else standIn.listen(Number(port), '127.0.0.1');
  expect(await listening).toBe('refused');
});

test('does not connect to an agent that announces a socket it does not serve', async () => {
  expect(await reasonOf(tryStart({ FAKE_START: 'lies' }))).toContain('does not listen correctly');
});

test('reports the exit code of an agent that crashes', async () => {
  const { agent } = await running();
  await ask(agent, '/crash').catch(() => undefined);
  expect(await agent.exited).toBe('exit code 7');
});

test('an idle agent resumes as another revision in the same process, with its log', async () => {
  const { spec, agent } = await running();
  const before = Object(await (await ask(agent, '/')).json());
  const isIdle = await agent.makeIdle?.();
  await until(() => spec.lines.includes('info: received rest'));
  const lines: string[] = [];
  const again = { ...spec, revisionId: 'r-2', log: (_level: string, line: string) => void lines.push(line) };
  const notified = await isIdle?.wake(again, new AbortController().signal);
  if (notified?.kind !== 'running') throw new Error('it did not resume');
  const after = Object(await (await ask(notified.agent, '/')).json());
  expect([before.revision, after.revision, after.pid]).toEqual(['r-1', 'r-2', before.pid]);
  await until(() => lines.includes('received wake'));
  expect(spec.lines).not.toContain('info: received wake');
  await notified.agent.stop();
  expect(await agent.exited).toBe('exit code 0');
});

test("an agent that can't become idle is ended", async () => {
  const { agent } = await running({ FAKE_STOP: 'hangs' }, { drainMs: 1 });
  expect(await agent.makeIdle?.()).toBeUndefined();
  expect(await agent.exited).toBe('killed by SIGKILL');
});

test('ends an agent that exceeds its memory limit and says so', async () => {
  const bounded = specOf();
  atTheEnd.push(bounded.remove);
  const spec = { ...bounded, resourceSpec: { memory_mb: 100 } };
  const start = await processCompute({ clock: systemClock, agentServer: fakeAgent }).start(
    spec,
    new AbortController().signal,
  );
  if (start.kind !== 'running') throw new Error(start.reason);
  expect(await (await ask(start.agent, '/eat')).json()).toEqual(['--max-old-space-size=143']);
  expect(await start.agent.exited).toMatch(
    /^it took \d+ MB of memory, more than its limit of 200 MB, and was stopped$/,
  );
});

test('returns the last lines of a crashed agent, masked', async () => {
  const { agent } = await running({ FAKE_SAY: 'first words' });
  await ask(agent, '/say');
  await ask(agent, '/crash').catch(() => undefined);
  await agent.exited;
  expect(agent.lastLines?.()).toEqual(['***', 'said later']);
});

test('warns in every deploy log that agents are not isolated', async () => {
  const { spec } = await running({}, { warning: 'They run as root.' });
  expect(spec.lines).toEqual(['warning: They run as root.']);
});

function aFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-compute-'));
  atTheEnd.push(() => rmSync(folder, { recursive: true }));
  return join(folder, 'file');
}

async function childIn(file: string): Promise<number> {
  let pid = Number.NaN;
  await until(() => {
    try {
      pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    } catch {
      pid = Number.NaN;
    }
    return !Number.isNaN(pid);
  });
  return pid;
}
