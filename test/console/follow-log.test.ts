import { expect, test } from 'vitest';
import {
  followLog,
  pageSize,
  type FollowedLog,
  type FollowState,
} from '../../src/console/pages/revision/follow-log.ts';
import { LogLines } from '../../src/console/pages/revision/log-lines.ts';

const encoder = new TextEncoder();
const event = (id: number): string =>
  `id: ${id}\nevent: log\ndata: ${JSON.stringify({ id: String(id), message: `line ${id}` })}\n\n`;
const end = 'event: end\ndata: {"status":"DEPLOYED","status_message":null}\n\n';
const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** What the service does at one connection: a text that it sends before it closes, a refusal, or no more content. */
type Connection = string | Error | typeof nothingMore;
const nothingMore = Symbol('nothing more');

/** Follows a log of which some lines are stored and which is streamed over several connections. */
async function follow({ stored, connections }: { stored: number[]; connections: Connection[] }) {
  const lines = new LogLines();
  const states: FollowState[] = [];
  const openedAfter: (string | undefined)[] = [];
  const delays: number[] = [];
  const log: FollowedLog = {
    lastId: () => lines.lastId,
    readPage: async (after) => ({
      logs: stored
        .filter((id) => id > Number(after ?? 0))
        .slice(0, pageSize)
        .map((id) => ({ id: String(id), message: `line ${id}` })),
    }),
    async openStream(after) {
      openedAfter.push(after);
      const connection = connections.shift() ?? nothingMore;
      if (connection instanceof Error) throw connection;
      if (connection === nothingMore) return undefined;
      return (async function* () {
        yield encoder.encode(connection);
      })();
    },
    isFinal: (error) => error instanceof RangeError,
    wait: async (ms) => void delays.push(ms),
    onLines: (entries) => lines.append(entries),
    onState: (state) => states.push(state),
  };
  await followLog(log, new AbortController().signal);
  const ids = numbers(1, lines.count).map((number) => Number(lines.line(number - 1)?.id));
  return { ids, states: states.map(({ kind }) => kind), openedAfter, delays };
}

test('reads a long log in pages and then follows it to its end', async () => {
  const stored = numbers(1, 2_500);
  const read = await follow({ stored, connections: [event(2_501) + event(2_502) + end] });
  expect(read.ids).toEqual(numbers(1, 2_502));
  expect(read.openedAfter).toEqual(['2500']);
  expect(read.states).toEqual(['loading', 'live', 'complete']);
});

test('continues after the last whole line of a broken connection, without loss or repetition', async () => {
  const cut = event(3) + event(4).slice(0, -20);
  const read = await follow({ stored: [1, 2], connections: [cut, event(3) + event(4), event(5) + end] });
  expect(read.ids).toEqual([1, 2, 3, 4, 5]);
  expect(read.openedAfter).toEqual(['2', '3', '4']);
  expect(read.states).toEqual(['loading', 'live', 'reconnecting', 'live', 'reconnecting', 'live', 'complete']);
});

test('ends where the service has nothing more, and stops at a final refusal', async () => {
  expect(await follow({ stored: [1], connections: [event(2), nothingMore] })).toMatchObject({
    ids: [1, 2],
    states: ['loading', 'live', 'reconnecting', 'complete'],
  });
  expect(await follow({ stored: [], connections: [new RangeError('gone')] })).toMatchObject({
    states: ['loading', 'failed'],
  });
});

test('waits longer while the service stays away, and starts over once it is back', async () => {
  const away = Array.from({ length: 7 }, () => new Error('away'));
  const read = await follow({ stored: [], connections: [...away, event(1), end] });
  expect(read.delays).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 250]);
  expect(read.ids).toEqual([1]);
});
