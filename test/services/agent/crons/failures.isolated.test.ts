import { loggerTo } from '../../../logger.ts';
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { StoredCron } from '../../../../src/services/agent/crons/cron-row.ts';
import { cronScheduler } from '../../../../src/services/agent/crons/cron-scheduler.ts';
import * as schedule from '../../../../src/kit/cron-schedule.ts';

vi.mock(import('../../../../src/kit/cron-schedule.ts'), { spy: true });
afterEach(() => vi.resetAllMocks());

const NOW = Date.parse('2027-04-03T13:00:00.500Z');
const DUE = new Date('2027-04-03T13:00:00Z');

function cron(): StoredCron {
  return {
    cron_id: 'c1',
    assistant_id: randomUUID(),
    thread_id: null,
    schedule: '*/15 * * * *',
    timezone: null,
    end_time: null,
    enabled: true,
    next_run_date: DUE,
    on_run_completed: 'delete',
    payload: {},
    metadata: {},
    user_id: null,
    created_at: DUE,
    updated_at: DUE,
  };
}

/** Polls once for a due cron. Returns the new run times, the number of runs, and the log. */
async function look(): Promise<{ moved: (string | undefined)[]; runs: number; lines: string[] }> {
  const moved: (string | undefined)[] = [];
  const lines: string[] = [];
  const startWithin = vi.fn<() => Promise<undefined>>(async () => undefined);
  const firing = cronScheduler({
    store: {
      due: async () => [cron()],
      moveOn: async (_, next, act) => {
        moved.push(next === undefined ? undefined : new Date(next).toISOString());
        return act({ query: () => Promise.reject(new Error('no query expected')) });
      },
    },
    runs: { startWithin },
    clock: { now: () => NOW, sleep: async () => undefined },
    log: loggerTo((line) => lines.push(line)),
  });
  await firing.look();
  return { moved, runs: startWithin.mock.calls.length, lines };
}

describe('a schedule whose next time is in the past', () => {
  test('starts no run, and continues at a later time', async () => {
    vi.mocked(schedule.timeAfter).mockImplementation((_, after) => (after > NOW ? NOW + 7_200_000 : NOW - 2_700_000));
    expect(await look()).toEqual({
      moved: ['2027-04-03T15:00:00.500Z'],
      runs: 0,
      lines: [
        'Cron c1 starts no run for 2027-04-03T13:00:00.000Z: the time found to come after it is over as well. ' +
          'The next run comes at 2027-04-03T15:00:00.500Z.',
      ],
    });
  });

  test('never runs again if all its times are in the past', async () => {
    vi.mocked(schedule.timeAfter).mockReturnValue(NOW);
    const { moved, runs, lines } = await look();
    expect({ moved, runs }).toEqual({ moved: [undefined], runs: 0 });
    expect(lines).toEqual([expect.stringContaining('No more runs come.')]);
  });
});
