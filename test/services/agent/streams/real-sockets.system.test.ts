import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';
import { startAgentProcess } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';
import { until } from '../promises/fixture.ts';
import { eventsOf } from '../runs/two-servers.ts';
import { countingAgent, numbersIn } from './counting-agent.ts';

const MB = 1024 * 1024;
const agent = countingAgent();
let postgres: TestPostgres;
let server: AgentProcess;
beforeAll(async () => {
  postgres = await startTestPostgres();
  server = await startAgentProcess({
    LANDFALL_GRAPH_CONFIG: agent.configPath,
    DATABASE_URI: postgres.url,
    LANDFALL_MAX_RUNS: '600',
    LANDFALL_DRAIN_MS: '0',
  });
});
afterAll(async () => {
  server.child.kill('SIGTERM');
  await server.gone;
  await postgres.stop();
  agent.remove();
});

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const counting = (input: object) => ({ assistant_id: 'counts', input, stream_mode: ['custom'] });
const stream = (input: object) =>
  eventsOf(
    fetch(`${server.url}/runs/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(counting(input)),
    }),
  );

/** Requests a stream over a raw socket, without reading it yet. */
function unread(path: string, input: object): Socket {
  const body = JSON.stringify(counting(input));
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  // A client that does not read may be disconnected.
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  return socket;
}

/** Reads a socket to the end of its response, slowly. @returns the numbers in its events, in order */
async function readSlowly(socket: Socket): Promise<number[]> {
  let text = '';
  const over = new Promise<void>((resolve) => {
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (text.endsWith('\r\n0\r\n\r\n')) return resolve();
      socket.pause();
      void systemClock.sleep(2).then(() => socket.resume());
    });
    socket.on('close', () => resolve());
  });
  socket.resume();
  await over;
  return [...text.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
}

/** Sends a request to the process, besides the streams. */
async function ask(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.url}${path}`, init);
  return Object(await answer.json());
}

/** Polls the reported memory (bytes) of the process; the returned function stops and returns the maximum. */
function lookAtMemory(): () => Promise<number> {
  const enough = new AbortController();
  const looking = (async () => {
    let most = 0;
    while (!enough.signal.aborted) {
      const { process } = await ask('/metrics?format=json');
      most = Math.max(most, Number(Object(process).memory_bytes));
      await systemClock.sleep(100);
    }
    return most;
  })();
  return () => {
    enough.abort();
    return looking;
  };
}

describe('one process, over sockets', () => {
  test('500 streams stay complete and ordered beside slow and stalled readers', async () => {
    const most = lookAtMemory();
    const thread = `/threads/${String((await ask('/threads', { method: 'POST', body: '{}' }))['thread_id'])}`;
    // Two gigabytes for a client that never reads, and ten megabytes for a slow one.
    const never = unread(`${thread}/runs/stream`, { to: 2000, every: 0, size: MB });
    const slow = readSlowly(unread('/runs/stream', { to: 100, every: 0, size: MB / 10 }));
    const streams = await Promise.all(upTo(500).map(() => stream({ to: 10, every: 20 })));
    for (const events of streams) {
      expect(events.map(({ event }) => event)).toEqual(['metadata', ...upTo(10).map(() => 'custom')]);
      expect(numbersIn(events)).toEqual(upTo(10));
    }
    expect(new Set(streams.map(([first]) => Object(first?.data).run_id)).size).toBe(500);
    expect(await slow).toEqual(upTo(100));
    // The client that never reads is disconnected, which ends its run.
    const status = async () => Object(await ask(`${thread}/runs`))[0]?.status;
    await until(async () => ((await status()) === 'interrupted' ? true : undefined));
    never.destroy();
    expect(await most()).toBeLessThan(1000 * MB);
  });
});
