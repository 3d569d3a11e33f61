import { describe, expect, test } from 'vitest';
import type { RecoveryClients } from '../../../app/recovery/recover.ts';
import { intervalMs, recoveryJob, startSlotMs, startRecovery } from '../../../app/recovery/recovery-job.ts';
import type { Clock } from '../../../src/kit/clock.ts';
import type { Job, Queue, SendOptions } from '../../../src/kit/postgres/queue.ts';
import { HandlerFixture } from '../events/handler-fixture.ts';

const minute = 60_000;

/** One queue for several copies of the App: a job goes to one of them, when its time has come. */
class SharedQueue {
  readonly ids = new Set<string>();
  readonly names = new Set<string>();
  readonly workers: ((data: object) => Promise<void>)[] = [];
  readonly fixture: HandlerFixture;
  failures = 0;

  constructor(fixture: HandlerFixture) {
    this.fixture = fixture;
  }

  /** What one copy sees of it. */
  seen(): Pick<Queue, 'define' | 'send' | 'work'> {
    return {
      define: async () => undefined,
      send: async (name, data, options) => this.#send(name, data, options),
      work: async (name, _, handler) => {
        this.workers.push((data) => handler(jobOf(name, data)));
      },
    };
  }

  #send(name: string, data: object, { id = '', startAfter }: SendOptions = {}): string | undefined {
    if (this.ids.has(id)) return undefined;
    this.ids.add(id);
    this.names.add(name);
    const now = this.fixture.clock.now();
    const at = startAfter instanceof Date ? startAfter.getTime() : now + (startAfter ?? 0) * 1000;
    this.fixture.clock.after(at - this.fixture.clock.now(), () => {
      this.workers[this.ids.size % this.workers.length]?.(data).catch(() => {
        this.failures += 1;
      });
    });
    return id;
  }
}

/** The queue hands out what was sent to it. */
function jobOf<Data extends object>(name: string, data: object): Job<Data> {
  const job: Job<Data> = JSON.parse(JSON.stringify({ id: 'job', name, data, attempt: 1 }));
  return { ...job, signal: new AbortController().signal };
}

/**
 * Copies of the App, and when their runs requested deliveries (ms since the start, without waiting for other copies).
 */
function copies() {
  const fixture = new HandlerFixture();
  const began = fixture.clock.now();
  const runs: number[] = [];
  const queue = new SharedQueue(fixture);
  const fails = { next: 0 };
  const clients: RecoveryClients = {
    deliveries: {
      page: async () => {
        const since = fixture.clock.now() - began;
        runs.push(since % minute > startSlotMs ? since : since - (since % minute));
        if (fails.next > 0) {
          fails.next -= 1;
          throw new TypeError('undefined is not a function');
        }
        return { deliveries: [] };
      },
      requestRedelivery: async () => undefined,
    },
    inbox: { neverReceived: async () => [], prune: async () => 0 },
    repositories: { repositories: async function* () {} },
    enqueueReports: async () => undefined,
  };
  /** `aheadMs`: how far the clock of this copy is ahead of the queue's. */
  const start = (aheadMs = 0) => {
    const clock: Clock = {
      now: () => fixture.clock.now() + aheadMs,
      sleep: (ms, signal) => fixture.clock.sleep(ms, signal),
    };
    return startRecovery(queue.seen(), { ...fixture.context, clock }, clients, new AbortController().signal);
  };
  return { fixture, queue, runs, fails, start };
}

describe('recovery runs', () => {
  test('at the start and every ten minutes', async () => {
    const { fixture, runs, queue, start } = copies();
    await start();
    expect(queue.names).toEqual(new Set([recoveryJob]));
    await fixture.clock.sleep(35 * minute);
    expect(runs).toEqual([0, 10 * minute, 20 * minute, 30 * minute]);
    expect(intervalMs).toBe(10 * minute);
  });

  test('once for all copies', async () => {
    const { fixture, runs, queue, start } = copies();
    await Promise.all([start(), start(), start()]);
    await fixture.clock.sleep(25 * minute);
    expect(queue.workers).toHaveLength(3);
    expect(runs).toEqual([0, 10 * minute, 20 * minute]);
  });

  test.each([-40_000, 40_000])('on and on, although the clocks of the copies differ by %i ms', async (aheadMs) => {
    const { fixture, runs, start } = copies();
    await Promise.all([start(), start(aheadMs), start()]);
    await fixture.clock.sleep(65 * minute);
    expect(runs.length).toBeGreaterThanOrEqual(7);
    expect(runs.length).toBeLessThanOrEqual(9);
  });

  test('at once if a copy starts later, without another series of runs', async () => {
    const { fixture, runs, start } = copies();
    await start();
    await fixture.clock.sleep(13 * minute);
    await start();
    await fixture.clock.sleep(12 * minute);
    expect(runs).toEqual([0, 10 * minute, 13 * minute, 20 * minute]);
  });

  test('for a copy that starts soon after another one, too', async () => {
    const { fixture, runs, start } = copies();
    await start();
    await fixture.clock.sleep(2 * startSlotMs);
    await start();
    await fixture.clock.sleep(minute);
    expect(runs).toHaveLength(2);
  });

  test('after the last of the starts that share it', async () => {
    const { fixture, runs, start } = copies();
    await start();
    const started = fixture.clock.now();
    await fixture.clock.sleep(startSlotMs - (started % startSlotMs) - 1);
    await start();
    expect(runs).toEqual([]);
    await fixture.clock.sleep(startSlotMs);
    expect(runs).toHaveLength(1);
  });

  test('the next time after a failure', async () => {
    const { fixture, runs, queue, fails, start } = copies();
    fails.next = 1;
    await start();
    await fixture.clock.sleep(15 * minute);
    expect(queue.failures).toBe(1);
    expect(runs).toEqual([0, 10 * minute]);
  });
});
