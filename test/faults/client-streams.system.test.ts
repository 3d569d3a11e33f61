import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { connectAgentServer, type AgentServerClient, type AgentServerSettings } from '../../src/client/agent.ts';
import { systemClock } from '../../src/kit/clock.ts';
import type { StreamEvent } from '../../src/contract/agent/stream-event.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import { quickClock } from '../client/stand-in.ts';
import { recordedBytes } from '../kit/sse/recorded-stream.ts';
import {
  chunk,
  closedPort,
  head,
  lastChunk,
  rawServer,
  reply,
  streamHead,
  type Answer,
  type RawServer,
} from './raw-server.ts';

const request = { assistant_id: 'tiny', input: { input: 'x' }, stream_mode: ['updates' as const] };
const threadId = '0c1d2e3f-0000-4000-8000-000000000009';
const first = 'event: metadata\ndata: {"run_id":"r1","attempt":1}\n\n';
const second = 'event: updates\ndata: {"prep":{"steps":["prep"]}}\n\n';

interface Seen {
  events: StreamEvent[];
  error?: unknown;
}

async function watch(events: AsyncIterable<StreamEvent>): Promise<Seen> {
  const seen: Seen = { events: [] };
  try {
    for await (const event of events) seen.events.push(event);
  } catch (error) {
    seen.error = error;
  }
  return seen;
}

async function against<T>(
  answer: Answer,
  settings: Partial<AgentServerSettings>,
  run: (client: AgentServerClient, server: RawServer) => Promise<T>,
): Promise<T> {
  await using server = await rawServer(answer);
  const client = connectAgentServer({
    url: server.url,
    apiKey: 'the-api-key',
    userAgent: 'test',
    clock: quickClock(),
    ...settings,
  });
  try {
    return await run(client, server);
  } finally {
    await client.close();
  }
}

const names = ({ events }: Seen) => events.map(({ event }) => event);

describe('a stream that is cut', () => {
  const bytes = recordedBytes('updates');
  const whole = ['metadata', 'updates', 'updates'];

  test('after any byte gives the whole events before the cut, and ends as unreadable', async () => {
    // One connection after another would take minutes: all of them at once, on one server.
    const cutAt: Answer = (socket, { headers }) => {
      const at = Number(headers['user-agent']);
      socket.write(streamHead);
      socket.end(at === 0 ? '' : chunk(bytes.subarray(0, at)));
    };
    await using server = await rawServer(cutAt);
    const reported = await Promise.all(
      Array.from({ length: bytes.length + 1 }, async (_, at) => {
        const client = connectAgentServer({ url: server.url, userAgent: String(at) });
        const seen = await watch(client.streamRun(request, threadId));
        await client.close();
        return { at, seen };
      }),
    );
    for (const { at, seen } of reported) {
      const complete = bytes.subarray(0, at).toString().split('\n\n').length - 1;
      expect({ at, names: names(seen) }).toEqual({ at, names: whole.slice(0, complete) });
      expect(seen.error).toMatchObject({ kind: 'unreadable', effect: 'unknown', status: 200 });
    }
  });

  test.each<[string, (socket: Socket) => void]>([
    ['by a reset', (socket) => setTimeout(() => socket.resetAndDestroy(), 20)],
    ['by the end of the connection', (socket) => socket.end()],
    [
      'inside an event, though its chunks are whole',
      (socket) => socket.end(Buffer.concat([chunk('event: upd'), Buffer.from(lastChunk)])),
    ],
  ])('%s is reported after its events', async (_, cut) => {
    const answer: Answer = (socket) => {
      socket.write(streamHead);
      socket.write(chunk(first + second));
      cut(socket);
    };
    await against(answer, {}, async (client, server) => {
      const seen = await watch(client.streamRun(request, threadId));
      expect(names(seen)).toEqual(['metadata', 'updates']);
      expect(seen.error).toBeInstanceOf(ServiceError);
      expect(seen.error).toMatchObject({ kind: 'unreadable', effect: 'unknown', operation: 'stream run' });
      expect(server.requests).toHaveLength(1);
    });
  });

  test('before its first event is no end either', async () => {
    const empty: Answer = (socket) => socket.write(streamHead + lastChunk);
    await against(empty, {}, async (client) => {
      const { error } = await watch(client.streamRun(request, threadId));
      expect(error).toMatchObject({ kind: 'unreadable' });
      expect(String(error)).toContain('ended before its first event');
    });
  });
});

describe('a stream that ends', () => {
  test('with its last chunk is over at once, while the connection stays', async () => {
    const answer: Answer = (socket) =>
      void socket.write(Buffer.concat([Buffer.from(streamHead), chunk(first), chunk(second), Buffer.from(lastChunk)]));
    await against(answer, {}, async (client) => {
      const seen = await watch(client.streamRun(request, threadId));
      expect(seen).toEqual({
        events: [
          { event: 'metadata', data: { run_id: 'r1', attempt: 1 } },
          { event: 'updates', data: { prep: { steps: ['prep'] } } },
        ],
      });
    });
  });

  test('with its connection is complete, if it has no length', async () => {
    const answer: Answer = (socket) =>
      socket.end(`HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${first}${second}`);
    await against(answer, {}, async (client) => {
      expect(names(await watch(client.streamRun(request, threadId)))).toEqual(['metadata', 'updates']);
    });
  });

  test('with a failed run reports it as an event', async () => {
    const failed = 'event: error\ndata: {"error":"BoomError","message":"boom"}\n\n';
    const answer: Answer = (socket) =>
      void socket.write(Buffer.concat([Buffer.from(streamHead), chunk(first + failed), Buffer.from(lastChunk)]));
    await against(answer, {}, async (client) => {
      const seen = await watch(client.streamRun(request, threadId));
      expect(seen.error).toBeUndefined();
      expect(seen.events.at(-1)).toEqual({ event: 'error', data: { error: 'BoomError', message: 'boom' } });
    });
  });
});

describe('a stream that does not end', () => {
  const open =
    (text: string): Answer =>
    (socket) => {
      socket.write(streamHead);
      socket.write(chunk(text));
    };

  test('but falls silent is left after the idle limit', async () => {
    await against(open(first), { idleMs: 400 }, async (client) => {
      const seen = await watch(client.streamRun(request, threadId));
      expect(names(seen)).toEqual(['metadata']);
      expect(seen.error).toMatchObject({ kind: 'unreachable', effect: 'unknown' });
      expect(String(seen.error)).toContain('no data for 0.4 s');
    });
  });

  test('but never answered at all is left after the idle limit as well', async () => {
    await against(
      () => undefined,
      { idleMs: 100 },
      async (client, server) => {
        const { error } = await watch(client.streamRun(request, threadId));
        expect(error).toMatchObject({ kind: 'unreachable', effect: 'unknown' });
        expect(String(error)).toContain('no response within 0.1 s');
        expect(server.requests).toHaveLength(1);
      },
    );
  });

  test('but only pings lives until the deadline, and no longer', async () => {
    const pings: Answer = (socket) => {
      socket.write(streamHead);
      socket.write(chunk(first));
      const timer = setInterval(() => socket.write(chunk(': heartbeat\n\n')), 50);
      socket.on('close', () => clearInterval(timer));
    };
    await against(pings, { idleMs: 600, clock: systemClock }, async (client) => {
      const began = performance.now();
      const seen = await watch(client.streamRun(request, threadId, { deadline: Date.now() + 1_200 }));
      expect(performance.now() - began).toBeGreaterThan(1_100);
      expect(names(seen)).toEqual(['metadata']);
      expect(seen.error).toMatchObject({ kind: 'unreachable', effect: 'unknown' });
    });
    await against(pings, { runTimeoutMs: 300 }, async (client) => {
      expect((await watch(client.streamRun(request, threadId))).error).toMatchObject({ kind: 'unreachable' });
    });
  });

  test('but is one endless line ends within bounded memory', async () => {
    let written = 0;
    const endless: Answer = (socket) => {
      socket.write(streamHead);
      socket.write(chunk(`${first}event: values\ndata: `));
      const piece = chunk(Buffer.alloc(16_384, 'x'));
      const more = (): void => {
        while (!socket.destroyed && socket.write(piece)) written += piece.length;
      };
      socket.on('drain', more);
      more();
    };
    await against(endless, { maxEventBytes: 200_000 }, async (client) => {
      const seen = await watch(client.streamRun(request, threadId));
      expect(names(seen)).toEqual(['metadata']);
      expect(seen.error).toMatchObject({ kind: 'unreadable' });
      expect(String(seen.error)).toContain('an event is longer than 200000 bytes');
      await systemClock.sleep(50);
      expect(written).toBeLessThan(20_000_000);
    });
  });

  test('and whose reader is slow waits for it, instead of filling the memory', async () => {
    let written = 0;
    const fast: Answer = (socket) => {
      socket.write(streamHead);
      const piece = chunk(`event: updates\ndata: "${'x'.repeat(16_000)}"\n\n`);
      const more = (): void => {
        while (!socket.destroyed && socket.write(piece)) written += piece.length;
      };
      socket.on('drain', more);
      more();
    };
    await against(fast, { idleMs: 400 }, async (client) => {
      const events = client.streamRun(request, threadId)[Symbol.asyncIterator]();
      await events.next();
      // Longer than the idle limit: the reader paused, so the server is not idle.
      await systemClock.sleep(800);
      const held = written;
      await systemClock.sleep(100);
      expect(written).toBe(held);
      expect(held).toBeLessThan(30_000_000);
      for (let times = 0; times < 100; times += 1) expect((await events.next()).done).toBe(false);
      await events.return?.();
    });
  });
});

describe('the start of a stream', () => {
  test.each<[string, string, object]>([
    [
      'a page at 200',
      reply(200, '<!doctype html>', { 'content-type': 'text/html' }),
      { kind: 'unreadable', status: 200, effect: 'unknown' },
    ],
    [
      'an answer without a type',
      `${head(200, { 'content-length': '2' })}{}`,
      { kind: 'unreadable', status: 200, effect: 'unknown' },
    ],
    [
      'data that is not JSON',
      reply(200, 'data: nope\n\n', { 'content-type': 'text/event-stream' }),
      { kind: 'unreadable', effect: 'unknown' },
    ],
    [
      'a 404 in plain text',
      reply(404, 'Assistant not found', { 'content-type': 'text/plain' }),
      { kind: 'missing', effect: 'none', detail: 'Assistant not found' },
    ],
    [
      'a 422 of a busy thread',
      reply(422, 'Thread is already running a task.', { 'content-type': 'text/plain' }),
      { kind: 'rejected', effect: 'none' },
    ],
    ['a 500', reply(500, 'Internal Server Error'), { kind: 'busy', effect: 'unknown' }],
  ])('%s is an error, and the run is not started again', async (_, answer, expected) => {
    await against(
      (socket) => socket.write(answer),
      {},
      async (client, server) => {
        const seen = await watch(client.streamRun(request, threadId));
        expect(seen.events).toEqual([]);
        expect(seen.error).toMatchObject({ ...expected, operation: 'stream run', method: 'POST' });
        expect(server.requests).toHaveLength(1);
      },
    );
  });

  test('is tried again where the run surely was not started', async () => {
    const answer: Answer = (socket, _, count) =>
      void socket.write(
        count === 1
          ? reply(429, 'busy', { 'retry-after': '2' })
          : Buffer.concat([Buffer.from(streamHead), chunk(first), Buffer.from(lastChunk)]),
      );
    const clock = quickClock();
    await against(answer, { clock }, async (client, server) => {
      expect(names(await watch(client.streamRun(request, undefined)))).toEqual(['metadata']);
      expect(clock.slept).toEqual([2_000]);
      expect(server.requests.map(({ path }) => path)).toEqual(['/runs/stream', '/runs/stream']);
    });
    const refusing = connectAgentServer({
      url: `http://127.0.0.1:${await closedPort()}`,
      userAgent: 'test',
      clock: quickClock(),
    });
    expect((await watch(refusing.streamRun(request, threadId))).error).toMatchObject({
      kind: 'unreachable',
      effect: 'none',
    });
    await refusing.close();
  });

  test('starts with the first requested event, and once', async () => {
    const answer: Answer = (socket) => void socket.end(reply(500, ''));
    await against(answer, {}, async (client, server) => {
      const events = client.streamRun(request, threadId)[Symbol.asyncIterator]();
      await systemClock.sleep(30);
      expect(server.requests).toHaveLength(0);
      await expect(events.next()).rejects.toBeInstanceOf(ServiceError);
      expect(await events.next()).toEqual({ done: true, value: undefined });
      expect(server.requests).toHaveLength(1);
      expect(server.requests[0]?.headers['accept']).toBe('text/event-stream');
    });
  });
});

describe('leaving a stream', () => {
  test('early closes its connection', async () => {
    const closed = Promise.withResolvers<void>();
    const answer: Answer = (socket) => {
      socket.write(streamHead);
      socket.write(chunk(first + second));
      socket.on('close', () => closed.resolve());
    };
    await against(answer, {}, async (client) => {
      const seen: string[] = [];
      for await (const { event } of client.streamRun(request, threadId)) {
        seen.push(event);
        break;
      }
      await closed.promise;
      expect(seen).toEqual(['metadata']);
    });
  });

  test('while waiting for an event, or for the head, closes the connection', async () => {
    for (const begin of [streamHead + chunk(first).toString(), '']) {
      const closed = Promise.withResolvers<void>();
      const answer: Answer = (socket) => {
        socket.write(begin);
        socket.on('close', () => closed.resolve());
      };
      await against(answer, {}, async (client) => {
        const events = client.streamRun(request, threadId)[Symbol.asyncIterator]();
        if (begin !== '') await events.next();
        const waiting = events.next();
        await systemClock.sleep(50);
        await events.return?.();
        expect(await waiting).toEqual({ done: true, value: undefined });
        await closed.promise;
        expect(await events.next()).toEqual({ done: true, value: undefined });
      });
    }
  });

  test('by a signal ends with its reason, before and after the first event', async () => {
    const reason = new Error('cancelled by a person');
    const stuck: Answer = (socket, { path }) => {
      if (!path.startsWith('/runs')) return;
      socket.write(streamHead);
      socket.write(chunk(first));
    };
    await against(stuck, {}, async (client) => {
      for (const thread of [threadId, undefined]) {
        const stop = new AbortController();
        const watching = watch(client.streamRun(request, thread, { signal: stop.signal }));
        setTimeout(() => stop.abort(reason), 50);
        expect((await watching).error).toBe(reason);
      }
    });
  });
});

describe('a run that is waited for', () => {
  test('may take longer than a usual attempt, and its line breaks are skipped', async () => {
    const answer: Answer = (socket) => {
      socket.write(head(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' }));
      const timer = setInterval(() => socket.write(chunk('\n')), 40);
      setTimeout(() => {
        clearInterval(timer);
        socket.write(Buffer.concat([chunk('{"output":"hello"}'), Buffer.from(lastChunk)]));
      }, 300);
    };
    await against(answer, { attemptTimeoutMs: 100 }, async (client) => {
      expect(await client.waitRun(request, threadId)).toEqual({ kind: 'values', values: { output: 'hello' } });
    });
  });

  test('whose answer is lost is not started again', async () => {
    await against(
      (socket) => socket.resetAndDestroy(),
      {},
      async (client, server) => {
        await expect(client.waitRun(request, threadId)).rejects.toMatchObject({
          kind: 'unreachable',
          effect: 'unknown',
        });
        await expect(client.createRun(request, threadId)).rejects.toMatchObject({ effect: 'unknown' });
        expect(server.requests).toHaveLength(2);
      },
    );
  });

  test('that only sends line breaks ends by the deadline', async () => {
    const breaks: Answer = (socket) => {
      socket.write(head(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' }));
      const timer = setInterval(() => socket.write(chunk('\n')), 20);
      socket.on('close', () => clearInterval(timer));
    };
    await against(breaks, { clock: systemClock }, async (client) => {
      const waiting = client.waitRun(request, threadId, { deadline: Date.now() + 200 });
      await expect(waiting).rejects.toMatchObject({ kind: 'unreachable', effect: 'unknown', status: 200 });
    });
  });
});
