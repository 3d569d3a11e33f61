import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';
import { startAgentProcess, type AgentProcess } from '../agent-process.ts';
import { agentConfig } from '../serving.ts';
import { chanceOf } from '../soak/chance.ts';

/** Lost connections and killed processes; more with `npm run fuzz -- 1000 interrupted-streams`. */
const interruptions = Number(process.env['LANDFALL_FUZZ'] ?? 30);
/** Those of one round; its events must be kept to its end, to be compared. */
const perRound = 50;
const channels = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'];

interface Event {
  seq: number;
  [field: string]: unknown;
}

let postgres: TestPostgres;
const started = new Set<AgentProcess>();
const live: (AgentProcess | undefined)[] = [undefined, undefined];
beforeAll(async () => {
  postgres = await startTestPostgres();
  await Promise.all(live.map((_, at) => start(at)));
});
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all([...started].map(({ gone }) => gone));
  await postgres.stop();
});

async function start(at: number): Promise<void> {
  const env = { LANDFALL_GRAPH_CONFIG: agentConfig, DATABASE_URI: postgres.url, LANDFALL_LEASE_MS: '2000' };
  const process = await startAgentProcess(env);
  started.add(process);
  live[at] = process;
}

type Transport = 'server-sent events' | 'WebSocket';

/** Follows a thread over lost connections, always after the last event that it has. */
class Follower {
  readonly events: Event[] = [];
  readonly threadId: string;
  readonly #by: Transport;
  readonly #url: () => string;
  readonly #stop = new AbortController();
  #connection = new AbortController();
  readonly ended: Promise<void>;

  constructor(threadId: string, by: Transport, url: () => string) {
    this.threadId = threadId;
    this.#by = by;
    this.#url = url;
    this.ended = this.#follow();
  }

  get last(): number {
    return this.events.at(-1)?.seq ?? 0;
  }

  disconnect(): void {
    this.#connection.abort();
  }

  stop(): Promise<void> {
    this.#stop.abort();
    this.disconnect();
    return this.ended;
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#connection = new AbortController();
      const path = `${this.#url()}/threads/${this.threadId}/stream/events`;
      const filter = { channels, ...(this.events.length > 0 ? { since: this.last } : {}) };
      const read = this.#by === 'WebSocket' ? this.#readSocket(path, filter) : this.#readStream(path, filter);
      // The connection was cut, or its process killed.
      await read.catch(() => wait(20));
    }
  }

  async #readStream(path: string, filter: object): Promise<void> {
    const init = { method: 'POST', body: JSON.stringify(filter), signal: this.#connection.signal };
    const { body } = await fetch(path, init);
    const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { data } of events ?? []) this.events.push(JSON.parse(data));
  }

  async #readSocket(path: string, filter: object): Promise<void> {
    const socket = new WebSocket(path.replace('http', 'ws'));
    const { signal } = this.#connection;
    signal.addEventListener('abort', () => socket.terminate());
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString());
      if (message.type === 'event' && !signal.aborted) this.events.push(message);
    });
    socket.on('open', () => socket.send(JSON.stringify({ id: 1, method: 'subscription.subscribe', params: filter })));
    await once(socket, 'close');
  }
}

test('followers get each event once and in order, whatever is cut or killed', { timeout: 3_600_000 }, async () => {
  const seed = Number(process.env['LANDFALL_SEED'] ?? 7);
  const chance = chanceOf(seed);
  const url = () => chance.any(live.flatMap((each) => (each ? [each.url] : [])))?.replace(/\/$/, '') ?? '';
  const command = async (threadId: string, method: string, params: object = {}): Promise<Record<string, unknown>> => {
    const body = JSON.stringify({ id: 1, method, params });
    const response = await fetch(`${url()}/threads/${threadId}/commands`, { method: 'POST', body });
    return Object(await response.json());
  };
  const inputs: [() => object, ...(() => object)[]] = [
    () => ({ assistant_id: 'echo', input: { input: 'Ada', sleep_ms: chance.between(0, 400) } }),
    () => ({ assistant_id: 'outer', input: { word: 'hi' } }),
    () => ({ assistant_id: 'chat', input: { messages: [{ type: 'human', content: 'Hello' }] } }),
  ];
  let events = 0;

  for (let done = 0; done < interruptions; done += perRound) {
    const threads = Array.from({ length: 4 }, () => randomUUID());
    const followers = threads.flatMap((threadId) =>
      (['server-sent events', 'WebSocket'] as const).map((by) => new Follower(threadId, by, url)),
    );
    const over = new AbortController();
    const isBusy = async (threadId: string) =>
      Object(await (await fetch(`${url()}/threads/${threadId}`)).json()).status === 'busy';
    const running = threads.map(async (threadId) => {
      while (!over.signal.aborted) {
        // The process may be killed before it answers; the run is accepted or not.
        await command(threadId, 'run.start', chance.one(inputs)()).catch(() => undefined);
        while (await isBusy(threadId).catch(() => !over.signal.aborted)) await wait(50);
      }
    });
    for (let left = Math.min(perRound, interruptions - done); left > 0; left -= 1) {
      if (chance.is(0.1)) {
        const at = chance.between(0, 1);
        const killed = live[at];
        live[at] = undefined;
        killed?.child.kill('SIGKILL');
        await killed?.gone;
        await start(at);
      } else {
        chance.any(followers)?.disconnect();
        await wait(chance.between(0, 100));
      }
    }
    over.abort();
    await Promise.all(running);
    for (const threadId of threads) {
      await expect.poll(() => isBusy(threadId)).toBe(false);
      const { meta } = await command(threadId, 'state.get');
      const last = Number(Object(meta).applied_through_seq);
      const whole = new Follower(threadId, 'server-sent events', url);
      const own = followers.filter((each) => each.threadId === threadId);
      for (const each of [whole, ...own]) await expect.poll(() => each.last, { message: `seed ${seed}` }).toBe(last);
      await Promise.all([whole, ...own].map((each) => each.stop()));
      const seqs = whole.events.map(({ seq }) => seq);
      expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
      for (const each of own) expect(each.events, `seed ${seed}`).toEqual(whole.events);
      events += whole.events.length;
    }
  }
  expect(events).toBeGreaterThan(interruptions);
});
