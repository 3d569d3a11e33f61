import { describe, expect, test } from 'vitest';
import { nextChannelVersion } from '../../../../src/services/agent/graphs/checkpoint-writes.ts';
import { nodePath } from '../../../../src/services/agent/graphs/stateful.ts';
import { isPath, partAt } from '../../../../src/services/agent/threads/state.ts';
import { endOf, lifetimeOf, lifetimesOf, showLifetime } from '../../../../src/services/agent/threads/lifetime.ts';
import { SerialQueue } from '../../../../src/services/agent/storage/transaction.ts';
import { idAt, isOfModes, ThreadEvents, timeOf } from '../../../../src/services/agent/threads/thread-events.ts';
import { maxTtlMinutes, type ThreadStreamMode } from '../../../../src/contract/agent/thread.ts';
import { WorkerGone } from '../../../../src/services/agent/graphs/python/connection.ts';
import { asRefused } from '../../../../src/services/agent/threads/write-states.ts';

describe('a path into a thread', () => {
  const thread = { values: { messages: [{ content: 'hi' }, { content: 'bye' }], empty: null, 'odd key': 1 } };

  test.each<[path: string, part: unknown]>([
    ['values.messages[0].content', 'hi'],
    ['values.messages[-1].content', 'bye'],
    ['values.messages[2].content', null],
    ['values.messages.length', 2],
    ['values.empty', null],
    ['values.empty.more', null],
    ['values.odd key', 1],
    ['values.constructor', null],
    ['values[0]', null],
    ['nothing', null],
  ])('%s resolves to %j', (path, part) => {
    expect(partAt(thread, path)).toEqual(part);
  });

  test.each([
    ['', false],
    ['a', true],
    ['a.b[0][-1].c', true],
    ['a..b', false],
    ['.a', false],
    ['a[b]', false],
    ['a.', false],
  ])('"%s" is valid: %s', (path, is) => {
    expect(isPath(path)).toBe(is);
  });
});

describe('the time to live of threads', () => {
  test.each([
    ['nothing', null, undefined],
    ['only a sweep', { sweep_interval_minutes: 1 }, undefined],
    ['a time', { default_ttl: 60 }, { minutes: 60, strategy: 'delete' }],
    [
      'a time and a strategy',
      { default_ttl: 0.5, strategy: 'keep_latest' as const },
      { minutes: 0.5, strategy: 'keep_latest' },
    ],
    ['a time beyond the maximum', { default_ttl: 1e300 }, { minutes: maxTtlMinutes, strategy: 'delete' }],
  ])('is set for configuration: %s', (_, config, ofAll) => {
    expect(lifetimesOf(config).ofAll).toEqual(ofAll);
  });

  test.each([
    ['nothing', undefined, 300_000, 1000],
    ['interval and limit', { sweep_interval_minutes: 2, sweep_limit: 7 }, 120_000, 7],
    ['an interval beyond the timer’s maximum', { sweep_interval_minutes: 1e9 }, 24 * 24 * 3600 * 1000, 1000],
  ])('is swept for configuration: %s', (_, config, sweepMs, sweepLimit) => {
    expect(lifetimesOf(config)).toMatchObject({ sweepMs, sweepLimit });
  });

  test('starts with the request that sets it', () => {
    expect(lifetimeOf(5)).toEqual({ minutes: 5, strategy: 'delete' });
    expect(lifetimeOf({ ttl: 1.5, strategy: 'keep_latest' })).toEqual({ minutes: 1.5, strategy: 'keep_latest' });
    expect(endOf({ minutes: 1.5, strategy: 'delete' }, 1_000)).toEqual(new Date(91_000));
    expect(showLifetime(undefined, null)).toBeNull();
    expect(showLifetime({ minutes: 5, strategy: 'delete' }, null)).toMatchObject({ expires_at: null });
  });
});

describe('channel versions', () => {
  const later = () => new Promise((resolve) => setImmediate(resolve));

  test('are integers that grow, and are equal within one step', async () => {
    const first = nextChannelVersion(undefined);
    expect(Math.floor(first)).toBe(1);
    expect(nextChannelVersion(undefined)).toBe(first);
    expect(Math.floor(nextChannelVersion(first))).toBe(2);
    await later();
    expect(Math.floor(nextChannelVersion(7))).toBe(8);
  });

  test('differ from step to step, so that two branches never share one', async () => {
    const seen = new Set<number>();
    for (let n = 0; n < 100; n += 1) {
      seen.add(nextChannelVersion(4.25));
      await later();
    }
    expect(seen.size).toBe(100);
    expect(
      [...seen].every((version) => String(version) === JSON.stringify(version) && version > 5 && version < 6),
    ).toBe(true);
  });
});

test.each([
  ['middle:0d35', 'middle'],
  ['middle:0d35|inner:77aa', 'middle|inner'],
  ['middle:0d35|1|inner:77aa', 'middle|inner'],
  ['keeper', 'keeper'],
])('the namespace %s belongs to the graph at %s', (namespace, path) => {
  expect(nodePath(namespace)).toBe(path);
});

test('serializes work, also after a failure', async () => {
  const line = new SerialQueue();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} ends`);
    if (name === 'a') throw new Error('a failed');
    return name;
  };
  const [a, b] = await Promise.allSettled([line.do(work('a')), line.do(work('b'))]);
  expect(a).toMatchObject({ status: 'rejected' });
  expect(b).toEqual({ status: 'fulfilled', value: 'b' });
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

describe('events of a thread', () => {
  test.each<[event: string, modes: ThreadStreamMode[], is: boolean]>([
    ['metadata', ['run_modes'], true],
    ['values', ['run_modes'], true],
    ['updates|inner', ['run_modes'], true],
    ['state_update', ['run_modes'], false],
    ['metadata', ['lifecycle'], true],
    ['values', ['lifecycle'], false],
    ['error', ['lifecycle'], false],
    ['metadata', ['state_update'], false],
    ['state_update', ['state_update', 'lifecycle'], true],
  ])('%s is sent for the modes %j: %s', (event, modes, is) => {
    expect(isOfModes(event, modes)).toBe(is);
  });

  const heard = (events: ThreadEvents, afterId?: number) => {
    const names: string[] = [];
    const leave = events.follow((event) => names.push(event?.event ?? 'end'), afterId);
    return { names, leave };
  };

  test('have ids that grow with time, also within a millisecond', () => {
    let now = 5000;
    const events = new ThreadEvents(() => now);
    const ids: number[] = [];
    events.follow((event) => ids.push(event?.id ?? 0), undefined);
    events.add('a', '1');
    events.add('b', '1');
    now += 10;
    events.add('c', '1');
    expect(ids).toEqual([idAt(5000) + 1, idAt(5000) + 2, idAt(5010)]);
    expect(ids.map(timeOf)).toEqual([5000, 5000, 5010]);
  });

  test('are sent from the last received id, or from now on, until closed', () => {
    const events = new ThreadEvents(() => 5000);
    events.add('a', '1');
    const whole = heard(events, events.completeAfter);
    const fresh = heard(events);
    const gone = heard(events);
    gone.leave();
    events.add('b', '1');
    events.close();
    expect(whole.names).toEqual(['a', 'b', 'end']);
    expect(fresh.names).toEqual(['b', 'end']);
    expect(gone.names).toEqual([]);
  });

  test('are kept up to a limit, and known to be incomplete before it', () => {
    const events = new ThreadEvents(() => 5000);
    const before = events.completeAfter;
    for (let n = 0; n < 10; n += 1) events.add(`e${n}`, 'x'.repeat(1024 * 1024));
    expect(heard(events, before).names).toEqual(['e6', 'e7', 'e8', 'e9']);
    expect(events.completeAfter).toBeGreaterThan(before);
    expect(heard(events, events.completeAfter).names).toEqual(['e6', 'e7', 'e8', 'e9']);
  });
});

test.each([
  ["an error of the graph is the values' fault", new TypeError('no tea'), { status: 422 }],
  ['the end of its process is not', new WorkerGone('ended by SIGKILL'), { name: 'WorkerGone' }],
])('of an update of a state, %s', async (_what, thrown, refused) => {
  await expect(asRefused({ failure: undefined }, () => Promise.reject(thrown))).rejects.toMatchObject(refused);
});
