import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { listen } from '../../../src/services/agent/listen.ts';
import { connectAgentServer } from '../../../src/client/agent.ts';
import type { AgentServerClient } from '../../../src/client/agent.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { startGate } from '../../partners/clients/gate.ts';
import { startTestPostgres } from '../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../kit/postgres/postgres.ts';
import { spawnAgentProcess, startAgentProcess } from './agent-process.ts';
import type { AgentProcess } from './agent-process.ts';
import { eventsOf, refusalOf, until, valuesOf } from './promises/fixture.ts';
import { agentConfig } from './serving.ts';
import { temporaryAgent } from './temporary-agent.ts';

let postgres: TestPostgres;
const started: AgentProcess[] = [];
const clients: AgentServerClient[] = [];
beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.splice(0).map(({ gone }) => gone));
});
afterAll(() => postgres.stop());

const environment = (more: Record<string, string> = {}) => ({
  LANDFALL_GRAPH_CONFIG: agentConfig,
  DATABASE_URI: postgres.url,
  ...more,
});

async function start(more?: Record<string, string>): Promise<AgentProcess & { agent: AgentServerClient }> {
  const process = await startAgentProcess(environment(more));
  const agent = connectAgentServer({ url: process.url, userAgent: 'landfall-tests' });
  started.push(process);
  clients.push(agent);
  return { ...process, agent };
}

const slow = (sleep_ms: number) => ({ assistant_id: 'echo', input: { input: 'x', sleep_ms } });
const gated = (gate: string) => ({ assistant_id: 'gated', input: { input: 'x', gate } });

describe('the process of a revision', () => {
  test('reports its port, hides its secrets from the agent, and exits with its parent', async () => {
    const agentFolder = temporaryAgent({
      'langgraph.json': { graphs: { env: './env.ts:env' }, env: '.env' },
      '.env': 'FROM_FILE=file\nFROM_BOTH=file\n',
      'env.ts': `
        import { Annotation, StateGraph } from '@langchain/langgraph';
        console.log('a graph may talk');
        const State = Annotation.Root({ env: Annotation<object>, fail: Annotation<boolean> });
        export const env = new StateGraph(State)
          .addNode('look', async ({ fail }) => {
            await new Promise((resolve) => setTimeout(resolve, 300));
            console.log('stdout may be closed');
            if (fail) throw new Error('as requested');
            return { env: { ...process.env } };
          })
          .addEdge('__start__', 'look')
          .compile();`,
    });
    try {
      const secrets = { LANDFALL_AGENT_TOKEN: 'token-of-the-gateway', FROM_BOTH: 'deployment' };
      const { child, output, url, gone } = await start({ ...secrets, LANDFALL_GRAPH_CONFIG: agentFolder.configPath });
      expect(output.filter((line) => line.startsWith('{'))).toEqual([
        `{"event":"listening","port":${new URL(url).port}}`,
      ]);
      const response = await fetch(`${url}/runs/wait`, {
        method: 'POST',
        headers: { 'x-landfall-agent-token': 'token-of-the-gateway' },
        body: '{"assistant_id":"env","input":{}}',
      });
      const { env } = Object(await response.json());
      expect(env).toMatchObject({ FROM_FILE: 'file', FROM_BOTH: 'deployment' });
      expect(JSON.stringify(env)).not.toMatch(/token-of-the-gateway|postgres:/);
      // A dying parent closes both pipes while a run is about to fail.
      const failing = await fetch(`${url}/runs/stream`, {
        method: 'POST',
        headers: { 'x-landfall-agent-token': 'token-of-the-gateway' },
        body: '{"assistant_id":"env","input":{"fail":true}}',
      });
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdin?.end();
      expect(await failing.text()).toContain('"message":"as requested"');
      expect(await gone).toBe(0);
    } finally {
      agentFolder.remove();
    }
  });

  test('logs failed runs, with their stack, and warnings with their levels', async () => {
    const agentFolder = temporaryAgent({
      'langgraph.json': { graphs: { asker: './asker.ts:asker' }, nope: 1 },
      'asker.ts': `
        import { Annotation, StateGraph } from '@langchain/langgraph';
        const ask = () => {
          throw new RangeError('too far');
        };
        const State = Annotation.Root({ said: Annotation<string> });
        export const asker = new StateGraph(State).addNode('ask', ask).addEdge('__start__', 'ask').compile();`,
    });
    try {
      const { url, output } = await start({ LANDFALL_GRAPH_CONFIG: agentFolder.configPath });
      await (await fetch(`${url}/runs/wait`, { method: 'POST', body: '{"assistant_id":"asker","input":{}}' })).text();
      const failed = expect.stringMatching(/^Run \S+ of graph "asker" failed: RangeError: too far\n +at .*asker\.ts/);
      const unknown = expect.stringMatching(/^langgraph\.json:1:\d+: `nope` is not known here/);
      await vi.waitFor(
        () =>
          expect(output.map((line) => JSON.parse(line))).toMatchObject([
            { name: 'agent-server', level: 'warn', msg: unknown },
            { event: 'listening' },
            { name: 'agent-server', level: 'error', runId: expect.any(String), msg: failed },
          ]),
        20_000,
      );
    } finally {
      agentFolder.remove();
    }
  });

  test('exits with 1 and readable messages when it can’t start', async () => {
    const closed = new URL(postgres.url);
    closed.password = 'hidden';
    const [empty, noDatabase] = await Promise.all(
      [{}, environment({ DATABASE_URI: closed.href })].map(async (env) => {
        const { gone, log, output } = spawnAgentProcess(env);
        return { code: await gone, log, output };
      }),
    );
    expect(empty).toEqual({
      code: 1,
      output: [],
      log: [
        'error[environment]: The variable LANDFALL_GRAPH_CONFIG is missing.',
        '  The variable DATABASE_URI is missing.',
      ],
    });
    expect(noDatabase).toMatchObject({
      code: 1,
      log: [expect.stringMatching(/^error\[database\]: .*password authentication failed/)],
    });
    expect(noDatabase?.log.join()).not.toContain('hidden');
  });

  test('names the address that is in use', async () => {
    const first = await listen(() => new Response(), { host: '127.0.0.1', port: 0, clock: systemClock });
    const taken = { host: '127.0.0.1', port: Number(new URL(first.url).port), clock: systemClock };
    await expect(listen(() => new Response(), taken)).rejects.toMatchObject({
      code: 'address',
      lines: [expect.stringMatching(/^Can't listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/)],
    });
    await first.close();
  });

  test('closes the connection after a request that it takes while it stops', async () => {
    const answer = Promise.withResolvers<Response>();
    const asked = Promise.withResolvers<void>();
    const answers = [() => (asked.resolve(), answer.promise), () => new Response('the last')];
    const handle = async () => (answers.shift() ?? (() => new Response('one more')))();
    const stopping = await listen(handle, { host: '127.0.0.1', port: 0, clock: systemClock });
    const client = connect(stopping.port ?? 0, '127.0.0.1').setEncoding('utf8');
    const request = 'GET / HTTP/1.1\r\nHost: agent\r\n\r\n';
    client.write(request);
    await asked.promise;
    stopping.stopAccepting();
    answer.resolve(new Response('taken'));
    let received = '';
    client.on('data', (piece) => (received += String(piece)));
    await until(async () => (received.includes('taken') ? true : undefined));
    client.write(request);
    await once(client, 'close');
    expect(received).toMatch(/connection: close[^]*the last/i);
    await stopping.close();
  });

  test('becomes idle without a database or a run, and serves another revision', async () => {
    const { agent, child, gone, url, output } = await start();
    const info = async () => Object(await (await fetch(`${url}/info`)).json());
    const reported = (event: string) => until(async () => (output.includes(`{"event":"${event}"}`) ? true : undefined));
    const { thread_id } = await agent.createThread({});
    const waiting = agent.waitRun(slow(700), thread_id);
    await until(async () => ((await agent.getThread(thread_id)).status === 'busy' ? true : undefined));
    child.stdin?.write('{"do":"rest"}\n');
    expect(valuesOf(await waiting)).toMatchObject({ output: 'hello x' });
    await reported('idle');
    expect((await fetch(`${url}/ok`)).status).toBe(503);
    child.stdin?.write('{"do":"wake","revision_id":"another"}\nno command\n');
    await reported('serving');
    expect(JSON.stringify(await info())).toContain('another');
    expect(valuesOf(await agent.waitRun(slow(0), thread_id))).toMatchObject({ output: 'hello x' });
    await until(async () => (output.some((line) => line.startsWith('{"event":"failed"')) ? true : undefined));
    child.stdin?.end();
    expect(await gone).toBe(0);
  });

  test('finishes its runs on SIGTERM, and accepts no new ones', async () => {
    await using gate = await startGate();
    const { agent, child, gone, url } = await start();
    const threads = [await agent.createThread({}), await agent.createThread({})].map(({ thread_id }) => thread_id);
    const waiting = agent.waitRun(gated(gate.url), threads[0]);
    const streaming = eventsOf(agent, { ...gated(gate.url), stream_mode: ['updates'] }, threads[1]);
    for (const id of threads)
      await until(async () => ((await agent.getThreadState(id)).next[0] === 'answer' ? true : undefined));
    child.kill('SIGTERM');
    await until(() =>
      fetch(`${url}/ok`).then(
        () => undefined,
        () => true,
      ),
    );
    gate.open();
    expect(valuesOf(await waiting)).toMatchObject({ output: 'hello x' });
    expect((await streaming).at(-1)).toMatchObject({ event: 'updates', data: { answer: { output: 'hello x' } } });
    expect(await gone).toBe(0);
  });
});

describe('after a process is gone', () => {
  test('kill -9 loses nothing acknowledged, and work continues', async () => {
    await using gate = await startGate();
    const killed = await start();
    const { thread_id } = await killed.agent.createThread({ metadata: { kept: true } });
    await killed.agent.waitRun({ assistant_id: 'echo', input: { input: 'first' } }, thread_id);
    const { assistant_id } = await killed.agent.createAssistant({ graph_id: 'echo', name: 'kept' });
    const background = await killed.agent.createRun(gated(gate.url), thread_id);
    const behind = await killed.agent.createRun({ assistant_id: 'echo', input: { input: 'behind' } }, thread_id);
    const streamed = await killed.agent.createThread({});
    const events = killed.agent.streamRun({ ...slow(60_000), stream_mode: ['updates'] }, streamed.thread_id);
    const stream = events[Symbol.asyncIterator]();
    const runId = String(Object((await stream.next()).value?.data)['run_id']);
    await stream.next();
    await until(async () => ((await killed.agent.getThreadState(thread_id)).next[0] === 'answer' ? true : undefined));
    await until(async () =>
      (await killed.agent.getThreadState(streamed.thread_id)).next[0] === 'answer' ? true : undefined,
    );
    killed.child.kill('SIGKILL');
    expect(await killed.gone).toBe('SIGKILL');
    await expect(stream.next()).rejects.toMatchObject({ kind: 'unreadable' });

    const { agent, output } = await start();
    gate.open();
    expect(await agent.getThread(thread_id)).toMatchObject({
      metadata: { kept: true },
      values: { output: 'hello first' },
    });
    expect(await agent.getAssistant(assistant_id)).toMatchObject({ name: 'kept' });
    // The background run continues from its last checkpoint: its first node does not run again.
    expect(valuesOf(await agent.joinRun(thread_id, background.run_id))).toBeDefined();
    expect(valuesOf(await agent.joinRun(thread_id, behind.run_id))).toMatchObject({
      output: 'hello behind',
      steps: Array.from({ length: 3 }, () => ['prepare', 'answer']).flat(),
    });
    expect(await agent.getRun(thread_id, background.run_id)).toMatchObject({ status: 'success' });
    // The streamed one has lost its client.
    const settled = await until(async () => {
      const run = await agent.getRun(streamed.thread_id, runId);
      return run.status === 'running' ? undefined : run;
    });
    expect(settled.status).toBe('interrupted');
    expect(await agent.getThread(streamed.thread_id)).toMatchObject({ status: 'interrupted' });
    expect(output.join('\n')).toContain(
      `${background.run_id} was left by a process that is gone; going on with attempt 2`,
    );
  });

  test('new runs wait for the orphaned runs on their thread', async () => {
    const killed = await start();
    const { thread_id } = await killed.agent.createThread({});
    const left = await killed.agent.createRun(slow(300), thread_id);
    killed.child.kill('SIGKILL');
    await killed.gone;
    const { agent } = await start();
    const next = await agent.waitRun({ assistant_id: 'echo', input: { input: 'next' } }, thread_id);
    expect(valuesOf(next)).toMatchObject({ output: 'hello next', steps: ['prepare', 'answer', 'prepare', 'answer'] });
    expect(await agent.getRun(thread_id, left.run_id)).toMatchObject({ status: 'success' });
  });

  test('two processes share their runs, and one continues those the other left', async () => {
    const [leaving, { agent }] = await Promise.all([start({ LANDFALL_DRAIN_MS: '100' }), start()]);
    const thread = await leaving.agent.createThread({});
    const first = await leaving.agent.createRun(slow(60_000), thread.thread_id);
    await until(async () =>
      (await agent.getRun(thread.thread_id, first.run_id)).status === 'running' ? true : undefined,
    );
    const rejecting = { ...slow(1), multitask_strategy: 'reject' } as const;
    expect(await refusalOf(agent.waitRun(rejecting, thread.thread_id))).toMatchObject({ kind: 'conflict' });

    // One executes the run; the other one cancels it and has the next one queued.
    const next = agent.waitRun({ assistant_id: 'echo', input: { input: 'next' } }, thread.thread_id);
    await agent.cancelRun(thread.thread_id, first.run_id, { wait: true });
    expect(await agent.getRun(thread.thread_id, first.run_id)).toMatchObject({ status: 'interrupted' });
    expect(valuesOf(await next)).toMatchObject({ output: 'hello next' });

    // One exits before its runs have ended: a background run continues, a waited-for one does not.
    const background = await leaving.agent.createRun(slow(1000), thread.thread_id);
    const other = await leaving.agent.createThread({});
    const waited = leaving.agent.waitRun(slow(60_000), other.thread_id);
    await until(async () => ((await agent.getThread(other.thread_id)).status === 'busy' ? true : undefined));
    leaving.child.kill('SIGTERM');
    expect(await waited).toMatchObject({ kind: 'error', error: { error: 'ServerStopped' } });
    expect(await leaving.gone).toBe(0);
    expect(valuesOf(await agent.joinRun(thread.thread_id, background.run_id))).toMatchObject({ output: 'hello x' });
    expect(await agent.getThread(other.thread_id)).toMatchObject({ status: 'interrupted' });
  });
});
