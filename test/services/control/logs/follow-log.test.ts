import { expect, test } from 'vitest';
import { untilAborted } from '../../../../src/kit/clock.ts';
import type { RevisionStatus } from '../../../../src/contract/control/revision-status.ts';
import { changeNotifier } from '../../../../src/services/control/logs/change-notifier.ts';
import { writeEvent } from '../../../../src/services/control/logs/operations.ts';
import {
  followLog,
  keepAliveMs,
  whileAdmitted,
  type LogEvent,
} from '../../../../src/services/control/logs/follow-log.ts';
import type { LogPageQuery } from '../../../../src/services/control/logs/repository.ts';
import type { LogKind, LogLine } from '../../../../src/services/control/store/tables.ts';
import { steppedClock } from '../api-keys/stepped-clock.ts';

const line = (id: number): LogLine => ({
  id: String(id),
  revision_id: 'r',
  kind: 'deploy',
  level: 'info',
  message: `line ${id}`,
  at: new Date(id),
});

/** A log in memory, a manual notifier, and a manual clock. */
function fixture(logKind: LogKind = 'deploy') {
  const lines: LogLine[] = [];
  const state: { status: RevisionStatus; isActive: boolean; isThere: boolean; reads: number } = {
    status: 'DEPLOYING',
    isActive: false,
    isThere: true,
    reads: 0,
  };
  const notifier = changeNotifier();
  const left = new AbortController();
  const { clock, advance } = steppedClock();
  const revision = () => ({ status: state.status, status_message: null });
  const events = followLog(
    { deploymentId: 'd', revisionId: 'r', logKind, after: undefined, level: undefined, containing: undefined },
    {
      store: {
        findRevision: async () => (state.isThere ? revision() : undefined),
        deployment: async () => ({ active_revision_id: state.isActive ? 'r' : null }),
        async readLog(_ids, _kind, { after = '0', limit }: LogPageQuery) {
          state.reads += 1;
          return lines.filter(({ id }) => Number(id) > Number(after)).slice(0, limit);
        },
      },
      notifier,
      clock,
      signal: left.signal,
    },
  );
  const next = async (): Promise<string> => {
    const { done, value } = await events.next();
    return done === true ? 'over' : inWords(value);
  };
  return { lines, state, notifier, left, events, next, advance };
}

const inWords = (event: LogEvent): string => {
  if (event.kind === 'line') return event.line.message;
  return event.kind === 'end' ? `end ${event.revision?.status ?? 'gone'}` : event.kind;
};

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('sends stored lines first, then each line as it is written, then the end', async () => {
  const { lines, state, notifier, next } = fixture();
  lines.push(line(1), line(2));
  expect([await next(), await next()]).toEqual(['line 1', 'line 2']);
  const third = next();
  await settled();
  lines.push(line(3));
  notifier.notify('r');
  expect(await third).toBe('line 3');
  state.status = 'DEPLOY_FAILED';
  notifier.notify('r');
  expect([await next(), await next()]).toEqual(['end DEPLOY_FAILED', 'over']);
});

test('sends lines from before the end first, even if both arrive at once', async () => {
  const { lines, state, notifier, next } = fixture();
  const first = next();
  await settled();
  lines.push(line(1));
  state.status = 'DEPLOY_FAILED';
  notifier.notify('r');
  expect([await first, await next()]).toEqual(['line 1', 'end DEPLOY_FAILED']);
});

test('a notification without a waiting reader is not lost', async () => {
  const { lines, notifier, next } = fixture();
  lines.push(line(1));
  expect(await next()).toBe('line 1');
  lines.push(line(2));
  notifier.notify('r');
  expect(await next()).toBe('line 2');
});

test('a notification for another revision wakes no reader', async () => {
  const { state, notifier, next, left } = fixture();
  const nothing = next();
  await settled();
  notifier.notify('other');
  await settled();
  expect(state.reads).toBe(1);
  left.abort();
  expect(await nothing).toBe('over');
});

test('sends a keep-alive after each interval without a line, also while others are written', async () => {
  const { next, notifier, advance } = fixture();
  for (let round = 1; round <= 2; round += 1) {
    let received: string | undefined;
    const nothing = next().then((event) => (received = event));
    await settled();
    for (let second = 1; second < keepAliveMs / 1_000; second += 1) {
      await advance(1_000);
      notifier.notify('r');
      await settled();
    }
    expect(received).toBeUndefined();
    await advance(1_000);
    expect(await nothing).toBe('quiet');
  }
  expect(writeEvent({ kind: 'quiet' })).toMatch(/^:[^\n]*\n\n$/);
});

test('reads nothing ahead of a slow reader', async () => {
  const { lines, state, notifier, next } = fixture();
  for (let id = 1; id <= 1_000; id += 1) lines.push(line(id));
  for (let id = 1; id <= 50; id += 1) await next();
  notifier.notify('r');
  await settled();
  expect(state.reads).toBe(1);
  for (let id = 51; id <= 1_000; id += 1) expect(await next()).toBe(`line ${id}`);
  expect(state.reads).toBe(10);
});

test.each([
  ['the deploy log of a live revision stays open', 'deploy', 'DEPLOYED', true, true, 'quiet'],
  ['the deploy log of a formerly live revision ends', 'deploy', 'DEPLOYED', false, true, 'end DEPLOYED'],
  ['the build log ends once its revision is live', 'build', 'DEPLOYED', true, true, 'end DEPLOYED'],
  ['the build log stays open while its revision starts', 'build', 'DEPLOYING', false, true, 'quiet'],
  ['the log of an interrupted revision ends', 'deploy', 'INTERRUPTED', false, true, 'end INTERRUPTED'],
  ['the log of a deleted deployment ends', 'deploy', 'DEPLOYED', true, false, 'end gone'],
] as const)('%s', async (_, kind, status, isActive, isThere, end) => {
  const { state, next, advance } = fixture(kind);
  Object.assign(state, { status, isActive, isThere });
  const reported = next();
  await settled();
  await advance(keepAliveMs);
  expect(await reported).toBe(end);
});

test('a follower that leaves is removed, whether it waits or holds a line', async () => {
  const { lines, events, next, notifier, state } = fixture();
  lines.push(line(1), line(2));
  await next();
  await events.return();
  notifier.notify('r');
  await settled();
  expect(state.reads).toBe(1);
  expect(await next()).toBe('over');
});

test('a silent log ends once its caller would not be admitted any more', async () => {
  const { clock, advance, left } = steppedClock();
  async function* follow(signal: AbortSignal): AsyncGenerator<LogEvent, void> {
    await untilAborted(signal);
    yield { kind: 'quiet' };
  }
  const events = whileAdmitted(follow, async () => false, clock);
  const next = events.next();
  await advance(15_000);
  expect((await next).done).toBe(true);
  expect(left()).toEqual([]);
});

test('a busy log ends once its caller would not be admitted any more', async () => {
  const { clock, advance } = steppedClock();
  let isAdmitted = true;
  async function* follow(): AsyncGenerator<LogEvent, void> {
    for (let id = 1; id < 10; id += 1) yield { kind: 'line', line: line(id) };
  }
  const events = whileAdmitted(follow, async () => isAdmitted, clock);
  await events.next();
  await advance(15_000);
  expect((await events.next()).done).toBe(false);
  isAdmitted = false;
  await advance(15_000);
  expect((await events.next()).done).toBe(true);
});

test('a log that has ended is checked no more', async () => {
  const { clock, advance, left } = steppedClock();
  async function* follow(): AsyncGenerator<LogEvent, void> {
    yield { kind: 'end', revision: undefined };
  }
  expect(await Array.fromAsync(whileAdmitted(follow, async () => true, clock))).toHaveLength(1);
  await advance(15_000);
  expect(left()).toEqual([]);
});
