import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { loggerTo } from '../../../logger.ts';
import { assistantStore } from '../../../../src/services/agent/assistants/store.ts';
import { newCron } from '../../../../src/services/agent/crons/cron-request.ts';
import type { StoredCron } from '../../../../src/services/agent/crons/cron-row.ts';
import { cronScheduler, type CronSchedulerDependencies } from '../../../../src/services/agent/crons/cron-scheduler.ts';
import { cronStore, type CronStore } from '../../../../src/services/agent/crons/store.ts';
import { Refusal, ShuttingDown } from '../../../../src/services/agent/refusal.ts';
import { openStorage, type Storage } from '../../../../src/services/agent/storage/open.ts';
import { expiryCondition, liveThreadCondition } from '../../../../src/services/agent/threads/lifetime.ts';
import type { CronCreate } from '../../../../src/contract/agent/cron.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';
import { SettableClock } from './settable-clock.ts';

const assistantId = randomUUID();
const clock = new SettableClock('2026-03-25T00:00:00Z');
let postgres: TestPostgres;
const processes: Storage[] = [];
let lines: string[] = [];

beforeAll(async () => {
  postgres = await startTestPostgres();
  for (const _ of [1, 2]) processes.push(await openStorage(postgres.url, randomUUID(), silentLogger));
  await assistantStore(storage(), clock).create({ graph_id: 'echo' }, assistantId);
  await storage().pool.query('create table started (cron_id text not null, process integer not null)');
});
beforeEach(async () => {
  lines = [];
  await storage().pool.query('truncate started, crons, cron_runs');
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.close()));
  await postgres.stop();
});

function storage(process = 0): Storage {
  const found = processes[process];
  if (!found) throw new Error(`There is no process ${process}.`);
  return found;
}

/** Crons whose threads have not expired. */
const cronsIn = (on: Storage): CronStore => cronStore(on, liveThreadCondition(expiryCondition(), clock));

type Start = CronSchedulerDependencies['runs']['startWithin'];

/** A process that records its runs in a table of the test. */
function firing(process = 0, before: () => void = () => undefined, after: () => void = () => undefined) {
  const startWithin: Start = ({ metadata }, _, within) => {
    before();
    return within(async (on) => {
      await on.query('insert into started values ($1, $2)', [metadata?.['cron_id'], process]);
      after();
      return { kind: 'started', status: 'pending', sequence: 1 };
    });
  };
  return fires(startWithin, process);
}

const fires = (startWithin: Start, process = 0) =>
  cronScheduler({
    store: cronsIn(storage(process)),
    runs: { startWithin },
    clock,
    log: loggerTo((line) => lines.push(line)),
  });

async function make(request: Partial<CronCreate> = {}): Promise<StoredCron> {
  const requested = { assistant_id: assistantId, schedule: '0 9 * * *', ...request };
  const cron = newCron(requested, {
    cronId: randomUUID(),
    assistantId,
    threadId: undefined,
    userId: undefined,
    now: clock.now(),
  });
  if (!cron.ok) throw new Error(cron.reason);
  await cronsIn(storage()).create(cron.cron);
  return cron.cron;
}

async function started(): Promise<string[]> {
  const { rows } = await storage().pool.query<{ cron_id: string }>('select cron_id from started');
  return rows.map(({ cron_id }) => cron_id);
}

const nextOf = async ({ cron_id }: StoredCron): Promise<string | undefined> =>
  (await cronsIn(storage()).get(cron_id))?.next_run_date?.toISOString();

describe('crons', () => {
  test('start one run per time across processes and daylight saving', async () => {
    clock.set('2026-03-25T00:00:00Z');
    const cron = await make({ timezone: 'Europe/Berlin' });
    const all = [firing(0), firing(1), firing(0), firing(1)];
    const look = () => Promise.all(all.map((each) => each.look()));
    const wanted = ['25T08', '26T08', '27T08', '28T08', '29T07', '30T07', '31T07'];
    for (const [day, hour] of wanted.entries()) {
      expect(await nextOf(cron)).toBe(`2026-03-${hour}:00:00.000Z`);
      clock.set(`2026-03-${hour.slice(0, 2)}T06:59:50Z`);
      await look();
      expect(await started()).toHaveLength(day);
      clock.set(`2026-03-${hour}:00:00.200Z`);
      await look();
      await look();
      expect(await started()).toHaveLength(day + 1);
    }
    expect(new Set(await started())).toEqual(new Set([cron.cron_id]));
    expect(lines).toEqual([]);
  });

  test('all start when many are due', async () => {
    clock.set('2026-03-25T08:59:50Z');
    const crons = await Promise.all(Array.from({ length: 210 }, () => make()));
    clock.set('2026-03-25T09:00:00Z');
    await Promise.all([firing(0).look(), firing(1).look()]);
    expect((await started()).toSorted()).toEqual(crons.map(({ cron_id }) => cron_id).toSorted());
  });

  test.each(['by the process that sees it', 'by the next process'])(
    'run again soon after the clock is set back by a day: %s',
    async (by) => {
      clock.set('2026-03-26T08:59:50Z');
      const cron = await make({ schedule: '*/10 * * * *' });
      const process = firing(0);
      clock.set('2026-03-26T09:00:00Z');
      await process.look();
      expect(await nextOf(cron)).toBe('2026-03-26T09:10:00.000Z');
      clock.set('2026-03-25T09:03:00Z');
      await (by === 'by the next process' ? firing(1) : process).look();
      expect(await nextOf(cron)).toBe('2026-03-25T09:10:00.000Z');
      expect(await started()).toHaveLength(1);
    },
  );

  test('do not run twice when the clock is corrected by seconds', async () => {
    clock.set('2026-03-26T08:59:50Z');
    const cron = await make({ schedule: '*/10 * * * *' });
    clock.set('2026-03-26T09:00:00Z');
    await firing(0).look();
    clock.set('2026-03-26T08:59:30Z');
    await firing(1).look();
    expect(await nextOf(cron)).toBe('2026-03-26T09:10:00.000Z');
  });

  test('keep their time if the process dies before it is written', async () => {
    clock.set('2026-03-25T08:59:50Z');
    const cron = await make();
    clock.set('2026-03-25T09:00:00Z');
    const dies = firing(0, undefined, () => {
      throw new Error('killed');
    });
    await dies.look();
    expect(await started()).toEqual([]);
    expect(await nextOf(cron)).toBe('2026-03-25T09:00:00.000Z');
    await firing(1).look();
    expect(await started()).toEqual([cron.cron_id]);
  });

  test('start nothing of the old version if updated while polled', async () => {
    clock.set('2026-03-25T08:59:50Z');
    const cron = await make();
    clock.set('2026-03-25T09:00:00Z');
    const slow = fires(async (_, __, within) => {
      await storage(1).pool.query(`update crons set updated_at = updated_at + interval '1 ms'`);
      return within(async (on) => {
        await on.query('insert into started values ($1, 0)', [cron.cron_id]);
        return { kind: 'started', status: 'pending', sequence: 1 };
      });
    });
    await slow.look();
    expect(await started()).toEqual([]);
    await firing().look();
    expect(await started()).toEqual([cron.cron_id]);
  });

  test('start nothing if deleted while polled', async () => {
    clock.set('2026-03-25T08:59:50Z');
    await make();
    clock.set('2026-03-25T09:00:00Z');
    await fires(async (_, __, within) => {
      await storage(1).pool.query('delete from crons');
      return within(async (on) => {
        await on.query(`insert into started values ('gone', 0)`);
        return { kind: 'started', status: 'pending', sequence: 1 };
      });
    }).look();
    expect(await started()).toEqual([]);
  });

  test('catch up once after downtime, and skip times long ago', async () => {
    clock.set('2026-03-25T08:30:00Z');
    const [often, daily] = [await make({ schedule: '*/5 * * * *' }), await make()];
    clock.set('2026-03-27T10:02:00Z');
    await firing().look();
    expect(await started()).toEqual([often.cron_id]);
    expect(await nextOf(often)).toBe('2026-03-27T10:05:00.000Z');
    expect(await nextOf(daily)).toBe('2026-03-28T09:00:00.000Z');
    expect(lines).toEqual([
      `Cron ${daily.cron_id} starts no run for 2026-03-25T09:00:00.000Z: it is over for too long to make up for it.`,
    ]);
  });

  test('have no next run after their end', async () => {
    clock.set('2026-03-25T08:30:00Z');
    const cron = await make({ end_time: '2026-03-25T10:00:00Z' });
    clock.set('2026-03-25T09:00:00Z');
    await firing().look();
    expect(await nextOf(cron)).toBeUndefined();
    clock.set('2026-03-26T09:00:00Z');
    await firing().look();
    expect(await started()).toHaveLength(1);
  });

  test('whose run is rejected are retried by any process, then skipped', async () => {
    clock.set('2026-03-25T08:59:50Z');
    const cron = await make();
    const lacks = firing(0, () => {
      throw new Refusal(404, 'There is no graph "echo".');
    });
    clock.set('2026-03-25T09:00:00Z');
    await lacks.look();
    clock.set('2026-03-25T09:00:29Z');
    await lacks.look();
    expect(await nextOf(cron)).toBe('2026-03-25T09:00:00.000Z');
    await firing(1).look();
    expect(await started()).toEqual([cron.cron_id]);
    clock.set('2026-03-26T09:00:30Z');
    await lacks.look();
    expect(await started()).toHaveLength(1);
    expect(await nextOf(cron)).toBe('2026-03-27T09:00:00.000Z');
    expect(lines).toEqual([
      `Cron ${cron.cron_id} starts no run for 2026-03-26T09:00:00.000Z: There is no graph "echo".`,
    ]);
  });

  test('are left to other processes by one that shuts down', async () => {
    clock.set('2026-03-25T08:59:50Z');
    const cron = await make();
    clock.set('2026-03-25T09:10:00Z');
    await firing(0, () => {
      throw new ShuttingDown();
    }).look();
    expect(await nextOf(cron)).toBe('2026-03-25T09:00:00.000Z');
    const leaving = firing(0);
    leaving.begin();
    await leaving.end();
    await leaving.look();
    await firing(1).look();
    expect(await started()).toEqual([cron.cron_id]);
  });

  test('are passed over after a while if the agent itself refuses with a 503', async () => {
    clock.set('2026-03-25T08:59:50Z');
    const cron = await make();
    clock.set('2026-03-25T09:00:31Z');
    await firing(0, () => {
      throw new Refusal(503, 'The directory of users is away.');
    }).look();
    expect(await nextOf(cron)).toBe('2026-03-26T09:00:00.000Z');
    expect(lines).toEqual([
      expect.stringContaining('starts no run for 2026-03-25T09:00:00.000Z: The directory of users'),
    ]);
  });

  test('skip a busy thread if their strategy says so', async () => {
    clock.set('2026-03-25T08:59:50Z');
    const cron = await make();
    clock.set('2026-03-25T09:00:00Z');
    await fires((_, __, within) => within(async () => ({ kind: 'busy' }))).look();
    expect(await started()).toEqual([]);
    expect(await nextOf(cron)).toBe('2026-03-26T09:00:00.000Z');
    expect(lines).toEqual([expect.stringContaining(`Cron ${cron.cron_id} starts no run: thread`)]);
  });

  test('that fail to start do not block others', async () => {
    clock.set('2026-03-25T08:59:50Z');
    const [bad, good] = [await make({ schedule: '0 9 * * *' }), await make({ schedule: '1 9 * * *' })];
    clock.set('2026-03-25T09:01:00Z');
    const start: Start = ({ metadata }, _, within) => {
      if (metadata?.['cron_id'] === bad.cron_id) throw new Error('a mistake');
      return within(async (on) => {
        await on.query('insert into started values ($1, 0)', [metadata?.['cron_id']]);
        return { kind: 'started', status: 'pending', sequence: 1 };
      });
    };
    await fires(start).look();
    expect(await started()).toEqual([good.cron_id]);
    expect(lines).toEqual([expect.stringContaining('a mistake')]);
  });

  test('that fail to start, however many, do not block later ones', async () => {
    clock.set('2026-03-25T08:59:50Z');
    const bad = new Set((await Promise.all(Array.from({ length: 205 }, () => make()))).map(({ cron_id }) => cron_id));
    const good = await make({ schedule: '1 9 * * *' });
    let refused = 0;
    const start: Start = ({ metadata }, _, within) => {
      if (bad.has(String(metadata?.['cron_id']))) {
        refused += 1;
        throw new Refusal(404, 'There is no graph "echo".');
      }
      return within(async (on) => {
        await on.query('insert into started values ($1, 0)', [metadata?.['cron_id']]);
        return { kind: 'started', status: 'pending', sequence: 1 };
      });
    };
    clock.set('2026-03-25T09:00:20Z');
    await cronsIn(storage()).moveOn(good, Date.parse('2026-03-25T09:00:20Z'), async () => true);
    await fires(start).look();
    expect(await started()).toEqual([good.cron_id]);
    expect([refused, lines]).toEqual([205, []]);
  });
});
