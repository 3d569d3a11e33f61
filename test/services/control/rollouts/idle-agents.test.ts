import { afterEach, expect, test } from 'vitest';
import { mayStop, startScalingToZero } from '../../../../src/services/control/rollouts/idle-agents.ts';
import { loggerTo } from '../../../logger.ts';
import { listen } from '../gateway/parties.ts';

const minute = 60_000;

test.each([
  ['nothing to do', { unfinished: 0, nextAt: undefined }, true],
  ['a cron in five minutes', { unfinished: 0, nextAt: 5 * minute }, true],
  ['a cron before', { unfinished: 0, nextAt: 5 * minute - 1 }, false],
  ['a run in progress', { unfinished: 1, nextAt: undefined }, false],
  ['work that it does not tell', undefined, false],
])('an idle agent with %s', (_what, work, stops) => {
  expect(mayStop(work, 0)).toBe(stops);
});

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

/** An agent that answers with this work, and looks at it on demand. */
async function watched(work: () => unknown) {
  const agent = await listen((request, response) => {
    response.end(JSON.stringify(request.url === '/metrics?format=json' ? { work: work() } : {}));
  });
  const upstream = { origin: agent.origin, token: 't' };
  let now = Date.parse('2026-03-01T10:00:00Z');
  let tick = (): void => {};
  let looked = Promise.withResolvers<void>();
  const events: string[] = [];
  const state = { since: now as number | undefined, onAsk: (): void => {} };
  const stop = startScalingToZero({
    store: { idleTimes: async () => [{ id: 'd', idle_after_seconds: 600 }] },
    gateway: {
      idleSince: () => state.since,
      live: () => {
        state.onAsk();
        return upstream;
      },
    },
    rollouts: {
      scaleToZero: (id) => events.push(`stopped ${id}`) > 0,
      wakeAgent: async (id) => void events.push(`started ${id}`),
    },
    clock: {
      now: () => now,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (ms === 15_000) {
            tick = resolve;
            looked.resolve();
          }
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
    },
    log: loggerTo((message) => events.push(message)),
  });
  closings.push(stop, () => agent.close());
  const look = async (ms: number): Promise<void> => {
    now += ms;
    looked = Promise.withResolvers();
    tick();
    await looked.promise;
  };
  return { state, events, look };
}

test('stops an agent once it was idle for its time, and not before', async () => {
  const { events, look } = await watched(() => ({ unfinished: 0, next_at: null }));
  await look(599_000);
  expect(events).toEqual([]);
  await look(1_000);
  expect(events).toEqual(['stopped d']);
});

test('starts it again a minute before its next cron', async () => {
  const { events, look } = await watched(() => ({ unfinished: 0, next_at: '2026-03-01T11:00:00.000Z' }));
  await look(600_000);
  await look(48 * minute);
  expect(events).toEqual(['stopped d']);
  await look(minute);
  expect(events).toEqual(['stopped d', 'started d']);
});

test.each([
  ['has a run', { unfinished: 1, next_at: null }],
  ['has a cron soon', { unfinished: 0, next_at: '2026-03-01T10:12:00.000Z' }],
  ['says nothing of its work', undefined],
  ['says nonsense', { unfinished: -1, next_at: 'soon' }],
])('leaves an agent alone that %s', async (_what, work) => {
  const { events, look } = await watched(() => work);
  await look(600_000);
  expect(events).toEqual([]);
});

test('leaves an agent alone that is used while it is asked', async () => {
  const { state, events, look } = await watched(() => {
    state.since = undefined;
    return { unfinished: 0, next_at: null };
  });
  await look(600_000);
  expect(events).toEqual([]);
});
