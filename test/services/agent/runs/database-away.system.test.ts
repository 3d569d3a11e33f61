import { silentLogger } from '../../../../src/kit/logger.ts';
import { loggerTo } from '../../../logger.ts';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startAgentServer } from '../../../../src/services/agent/server.ts';
import type { AgentServerProcess } from '../../../../src/services/agent/server.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startEmbeddedPostgres } from '../../../../src/kit/postgres/embedded.ts';
import type { EmbeddedPostgres } from '../../../../src/kit/postgres/embedded.ts';
import { until } from '../promises/fixture.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { asking, eventsOf } from './two-servers.ts';
import type { Asking } from './two-servers.ts';

/** The nodes that started, and the promise that they wait for. */
declare global {
  var startedNodes: string[];
  var gate: Promise<unknown> | undefined;
}

let folder: string;
let postgres: EmbeddedPostgres;
let agent: TemporaryAgent;
let server: AgentServerProcess;
let here: Asking;
const lines: string[] = [];
const start = () =>
  startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLogger, settings: { fsync: 'off' } });

beforeAll(async () => {
  globalThis.startedNodes = [];
  folder = mkdtempSync(join(tmpdir(), 'landfall-away-'));
  chmodSync(folder, 0o711);
  postgres = await start();
  agent = temporaryAgent({
    'langgraph.json': { graphs: { slow: './slow.ts:slow' } },
    'slow.ts': `
      import { Annotation, StateGraph } from '@langchain/langgraph';
      const State = Annotation.Root({
        word: Annotation<string>,
        ballast: Annotation<string>,
        list: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
      });
      const node = (name) => async ({ word, ballast }, { store }) => {
        globalThis.startedNodes.push(name + ' ' + word);
        if (name === 'a') {
          await globalThis.gate;
          await store.put(['words'], word, { word });
          if ((await store.get(['words'], word)).value.word !== word) throw new Error('It is not kept.');
        }
        return { list: [name], ...(ballast ? { ballast: name.repeat(ballast.length) } : {}) };
      };
      export const slow = new StateGraph(State).addNode('a', node('a')).addNode('b', node('b')).addNode('c', node('c'))
        .addEdge('__start__', 'a').addEdge('a', 'b').addEdge('b', 'c').compile();`,
  });
  server = await startAgentServer({
    configPath: agent.configPath,
    databaseUrl: postgres.url,
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: loggerTo((line) => lines.push(line)),
    drainMs: 0,
  });
  here = asking(server);
});
const realQuery: unknown = Reflect.get(Pool.prototype, 'query');
afterEach(() => void Reflect.set(Pool.prototype, 'query', realQuery));
afterAll(async () => {
  await server.close();
  await postgres.stop();
  agent.remove();
  rmSync(folder, { recursive: true, force: true });
});

const ended = async (place: string) =>
  until(async () => {
    const status = await here.status(place);
    return status === 'pending' || status === 'running' ? undefined : status;
  });

/** The last run of a thread, and the content of its state. */
async function shown(threadId: string) {
  const thread = await here.json(here.get(`/threads/${threadId}`));
  const state = await here.json(here.get(`/threads/${threadId}/state`));
  return { values: Object(thread['values']).list, state: Object(state['values']).list, next: state['next'] };
}
const whole = { values: ['a', 'b', 'c'], state: ['a', 'b', 'c'], next: [] };
const nodesOf = (word: string) => globalThis.startedNodes.filter((node) => node.endsWith(` ${word}`));

test('runs wait while the database restarts, and complete normally', async () => {
  const { promise, resolve: open } = Promise.withResolvers<void>();
  globalThis.gate = promise;
  const ballast = 'x'.repeat(300_000);
  const threads = await Promise.all(['plain', 'large', 'sync', 'waited', 'streamed'].map(() => here.thread()));
  const [plain = '', large = '', sync = '', waited = '', streamed = ''] = threads;
  const run = (word: string, more: object = {}) => ({ assistant_id: 'slow', input: { word, ...more } });
  const places = [
    await here.run(plain, run('plain')),
    await here.run(large, run('large', { ballast })),
    await here.run(sync, { ...run('sync'), durability: 'sync' }),
  ];
  const answer = here.json(here.post(`/threads/${waited}/runs/wait`, run('waited')));
  const events = eventsOf(here.post(`/threads/${streamed}/runs/stream`, run('streamed')));
  await until(async () => (globalThis.startedNodes.length === 5 ? true : undefined));
  await postgres.stop();
  open();
  // Long enough for several failed attempts to write.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect((await here.get(`/threads/${plain}/state`)).status).toBe(503);
  postgres = await start();
  for (const place of places) expect(await ended(place)).toBe('success');
  expect(await answer).toMatchObject({ word: 'waited', list: ['a', 'b', 'c'] });
  expect((await events).map(({ event }) => event)).not.toContain('error');
  for (const thread of threads) expect(await shown(thread)).toEqual(whole);
  for (const word of ['plain', 'large', 'sync', 'waited', 'streamed'])
    expect(nodesOf(word)).toEqual([`a ${word}`, `b ${word}`, `c ${word}`]);
  const said = JSON.stringify([await answer, await events, lines.filter((line) => line.includes('failed'))]);
  expect(said).not.toMatch(/ECONN|127\.0\.0\.1|shutting down|terminating/);
  globalThis.gate = undefined;
});

test.each([
  ['sync', 4],
  // Its writes are stored together, the last ones with its end.
  ['async', 2],
] as const)('a query whose response is lost is repeated, and applies once: %s', async (durability, atLeast) => {
  if (typeof realQuery !== 'function') throw new Error('The pool has no query method.');
  const lost: string[] = [];
  Reflect.set(Pool.prototype, 'query', async function (this: Pool, ...requested: unknown[]) {
    const answer: unknown = await Reflect.apply(realQuery, this, requested);
    const what = /insert into checkpoint\w*|^\s*select[\s\S]*from checkpoints|with ours/.exec(
      String(Object(requested[0]).text ?? requested[0]),
    )?.[0];
    if (what === undefined || lost.filter((one) => one === what).length >= 2) return answer;
    lost.push(what);
    throw new Error('Connection terminated unexpectedly');
  });
  // Longer than writes are gathered: some are stored before the end.
  globalThis.gate = new Promise((open) => setTimeout(open, 100));
  const thread = await here.thread();
  const place = await here.run(thread, { assistant_id: 'slow', input: { word: `lost-${durability}` }, durability });
  expect(await ended(place)).toBe('success');
  Reflect.set(Pool.prototype, 'query', realQuery);
  globalThis.gate = undefined;
  expect(lost.length).toBeGreaterThanOrEqual(atLeast);
  expect(await shown(thread)).toEqual(whole);
  expect(nodesOf(`lost-${durability}`)).toEqual(['a', 'b', 'c'].map((node) => `${node} lost-${durability}`));
  const history: unknown = await (await here.get(`/threads/${thread}/history`)).json();
  expect(history).toHaveLength(5);
});

test('a run taken over while its writes waited ends here silently, and only once', async () => {
  if (typeof realQuery !== 'function') throw new Error('The pool has no query method.');
  let isAway = true;
  let tries = 0;
  Reflect.set(Pool.prototype, 'query', async function (this: Pool, ...requested: unknown[]): Promise<unknown> {
    if (!isAway || !String(Object(requested[0]).name).includes('checkpoint'))
      return Reflect.apply(realQuery, this, requested);
    tries++;
    throw new Error('Connection terminated unexpectedly');
  });
  const thread = await here.thread();
  const place = await here.run(thread, { assistant_id: 'slow', input: { word: 'taken' } });
  await until(async () => (tries > 2 ? true : undefined));
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  // Simulates a process that is gone, so that this one takes over the run again.
  await client.query(`update runs set process_id = gen_random_uuid() where status = 'running'`);
  await client.end();
  isAway = false;
  expect(await ended(place)).toBe('success');
  expect(await shown(thread)).toEqual(whole);
  expect(lines.join('\n')).toContain('going on with attempt 2');
  expect(lines.filter((line) => line.includes('failed'))).toEqual([]);
});
