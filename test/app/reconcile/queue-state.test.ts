import { describe, expect, test } from 'vitest';
import {
  freeLease,
  maxLeaseMs,
  newQueueState,
  notifyQueue,
  releaseLease,
  acquireLease,
  type QueueState,
} from '../../../app/reconcile/queue-state.ts';

const now = 10_000_000;
const hour = 60 * 60_000;
const state = (more: Partial<QueueState> = {}): QueueState => ({ ...newQueueState, ...more });
const held = (more: Partial<QueueState> = {}): QueueState => state({ holder: 'a', leaseUntil: now + 30_000, ...more });

describe('a notification', () => {
  test.each<[what: string, before: QueueState, at: number | undefined, after: Partial<QueueState>, job?: number]>([
    ['counts, and sends a job at once', state(), undefined, { notifiedSeq: 1, jobAt: now }, now],
    ['sends no second job while one is due', state({ jobAt: now }), undefined, { notifiedSeq: 1, jobAt: now }],
    ['comes before a later job', state({ jobAt: now + 1 }), undefined, { notifiedSeq: 1, jobAt: now }, now],
    ['replaces a job that is lost', state({ jobAt: now - 5 * 60_000 }), undefined, { notifiedSeq: 1, jobAt: now }, now],
    ['keeps a job that is late', state({ jobAt: now - 5 * 60_000 + 1 }), undefined, { notifiedSeq: 1 }],
    ['for now counts', state(), now, { notifiedSeq: 1, jobAt: now }, now],
    ['keeps a job before the end of a lease', held({ jobAt: now + 9_000 }), undefined, { notifiedSeq: 1 }],
    ['waits for the end of a lease', held(), undefined, { notifiedSeq: 1, jobAt: now + 30_000 }, now + 30_000],
    [
      'does not wait for a lease that has expired',
      held({ leaseUntil: now }),
      undefined,
      { notifiedSeq: 1, jobAt: now },
      now,
    ],
    ['for later sets the time', state(), now + 500, { nextAt: now + 500, jobAt: now + 500 }, now + 500],
    [
      'for later keeps an earlier time',
      state({ nextAt: now + 100, jobAt: now + 100 }),
      now + 500,
      { nextAt: now + 100, jobAt: now + 100 },
    ],
    [
      'for later replaces a time that is past',
      state({ nextAt: now }),
      now + 500,
      { nextAt: now + 500, jobAt: now + 500 },
      now + 500,
    ],
  ])('%s', (_, before, at, after, job) => {
    expect(notifyQueue(before, now, at)).toEqual({ record: { ...before, ...after }, job, extra: undefined });
  });
});

describe('a worker', () => {
  const lease = { holder: 'b', leaseUntil: now + 20_000, nextAt: undefined };
  test.each<[what: string, before: QueueState, after: Partial<QueueState>, extra: object, job?: number]>([
    ['gets no lease where nothing is due', state(), {}, { kind: 'not-due' }],
    ['leaves a later job where nothing is due', state({ jobAt: now + 5_000 }), {}, { kind: 'not-due' }],
    ['counts as the job whose time has come', state({ jobAt: now + 1_000 }), { jobAt: undefined }, { kind: 'not-due' }],
    [
      'waits for a time that is an hour away',
      state({ nextAt: now + hour }),
      { jobAt: now + hour },
      { kind: 'not-due' },
      now + hour,
    ],
    ['gets it after a notification', state({ notifiedSeq: 1 }), lease, { kind: 'taken', nextAt: undefined }],
    [
      'gets it a second early',
      state({ nextAt: now + 1_000, jobAt: now + 1_000 }),
      { ...lease, jobAt: undefined },
      { kind: 'taken', nextAt: undefined },
    ],
    [
      'gets none more than a second early, and the job stays',
      state({ nextAt: now + 1_001, jobAt: now + 1_001 }),
      {},
      { kind: 'not-due' },
    ],
    [
      'gets none before the time, and a job is sent where there is none',
      state({ nextAt: now + 5_000 }),
      { jobAt: now + 5_000 },
      { kind: 'not-due' },
      now + 5_000,
    ],
    [
      'keeps the later time in mind',
      state({ notifiedSeq: 1, nextAt: now + 5_000 }),
      { ...lease, nextAt: now + 5_000 },
      { kind: 'taken', nextAt: now + 5_000 },
    ],
    ['waits for the end of a lease', held(), { jobAt: now + 30_000 }, { kind: 'held' }, now + 30_000],
    ['takes over a lease that has expired', held({ leaseUntil: now }), lease, { kind: 'taken', nextAt: undefined }],
    [
      'waits no longer than the longest lease, though the clock was set back',
      held({ leaseUntil: now + hour }),
      { leaseUntil: now + maxLeaseMs, jobAt: now + maxLeaseMs },
      { kind: 'held' },
      now + maxLeaseMs,
    ],
    [
      'looks now where the time is farther away than any, since the clock was set back',
      state({ nextAt: now + hour + 1 }),
      lease,
      { kind: 'taken', nextAt: undefined },
    ],
  ])('%s', (_, before, after, extra, job) => {
    expect(acquireLease(before, 'b', now, 20_000)).toEqual({ record: { ...before, ...after }, job, extra });
  });
});

describe('a release', () => {
  const free = { holder: undefined, leaseUntil: 0, processedSeq: 3 };
  test.each<[what: string, before: QueueState, again: number | undefined, after: object, extra: boolean, job?: number]>(
    [
      ['frees the lease', held({ notifiedSeq: 3 }), undefined, free, true],
      ['of another holder changes nothing', held({ holder: 'c', notifiedSeq: 3 }), now, {}, true],
      ['is refused after a notification', held({ notifiedSeq: 4 }), now, {}, false],
      [
        'schedules the next pass',
        held({ notifiedSeq: 3 }),
        now + 700,
        { ...free, nextAt: now + 700, jobAt: now + 700 },
        true,
        now + 700,
      ],
      [
        'schedules the next pass in place of a time that is past',
        held({ notifiedSeq: 3, nextAt: now }),
        now + 700,
        { ...free, nextAt: now + 700, jobAt: now + 700 },
        true,
        now + 700,
      ],
      [
        'keeps an earlier time',
        held({ notifiedSeq: 3, nextAt: now + 200 }),
        now + 700,
        { ...free, nextAt: now + 200, jobAt: now + 200 },
        true,
        now + 200,
      ],
      [
        'keeps the time where nothing is scheduled',
        held({ notifiedSeq: 3, nextAt: now + 200 }),
        undefined,
        { ...free, nextAt: now + 200, jobAt: now + 200 },
        true,
        now + 200,
      ],
      [
        'forgets a time that is past',
        held({ notifiedSeq: 3, nextAt: now }),
        undefined,
        { ...free, nextAt: undefined },
        true,
      ],
    ],
  )('%s', (_, before, again, after, extra, job) => {
    const result = releaseLease(before, { holder: 'a', notifiedSeq: 3 }, now, again);
    expect(result).toEqual({ record: { ...before, ...after }, job, extra });
  });
});

test.each<[what: string, jobAt: number | undefined]>([
  ['no job', undefined],
  ['a later job', now + 30_000],
  ['a past job', now - 1],
])('frees the lease of a dead process and sends a job at once, where there is %s', (_, jobAt) => {
  expect(freeLease(held({ jobAt }), now)).toEqual({
    record: held({ leaseUntil: 0, jobAt: now }),
    job: now,
    extra: undefined,
  });
});
