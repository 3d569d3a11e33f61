import { messageOf } from '../../../kit/errors.ts';
import { setBackMs, type Clock } from '../../../kit/clock.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import type { RunAuthorizer } from '../auth/run-authorizer.ts';
import { ShuttingDown } from '../refusal.ts';
import { polling } from '../storage/poll.ts';
import type { Runs } from '../runs/runs.ts';
import { runOf, timingOf, type StoredCron } from './cron-row.ts';
import { nextRunAfterSetBack, decideDueCron } from './due.ts';
import type { CronStore } from './store.ts';
import type { Logger } from '../../../kit/logger.ts';

/** The polling interval (ms) for due crons: a run is late by this at most. */
const lookMs = 1000;
const atOnce = 100;
/** Later than the next run of any cron. */
const endOfTime = new Date(8.64e15);
/** How long (ms) a refused run is retried before its time is skipped: another revision may have its graph. */
const maxWaitMs = 30_000;

export interface CronSchedulerDependencies {
  store: Pick<CronStore, 'due' | 'moveOn'>;
  runs: Pick<Runs, 'startWithin'>;
  /** Undefined if the agent has no authorization rules. */
  access?: Pick<RunAuthorizer, 'asMaker'> | undefined;
  clock: Clock;
  log: Logger;
}

/** Starts the runs of crons. Every process polls; advancing a cron and writing its run is one transaction. */
export function cronScheduler({ store, runs, access, clock, log }: CronSchedulerDependencies) {
  /** The time of the last poll; the clock may have been set back before the first one. */
  let lookedAt = Infinity;

  /** Fires all due crons. One that can't be fired does not block those after it. */
  async function look(): Promise<void> {
    const now = clock.now();
    if (now < lookedAt - setBackMs) await each(endOfTime, (cron) => bringForward(cron, now));
    await each(new Date(now), tryToFire);
    lookedAt = now;
  }
  const polls = polling(look, { what: 'Polling for due crons', everyMs: lookMs, clock, log });

  async function each(until: Date, act: (cron: StoredCron) => Promise<void>): Promise<void> {
    let crons: StoredCron[] = [];
    do {
      crons = await store.due(until, atOnce, crons.at(-1));
      for (const cron of crons) {
        if (polls.signal.aborted) return;
        await act(cron);
      }
    } while (crons.length === atOnce);
  }

  async function bringForward(cron: StoredCron, now: number): Promise<void> {
    const due = cron.next_run_date?.getTime() ?? now;
    const next = nextRunAfterSetBack(due, timingOf(cron), now);
    if (next === undefined || !(await store.moveOn(cron, next, async () => true))) return;
    log.info(
      { cronId: cron.cron_id },
      `Cron ${cron.cron_id} runs next at ${new Date(next).toISOString()}: the clock was set back.`,
    );
  }

  /** Logs a failure instead of blocking other crons. */
  async function tryToFire(cron: StoredCron): Promise<void> {
    const [now, due] = [clock.now(), cron.next_run_date?.getTime()];
    if (due === undefined) return;
    const { kind, next } = decideDueCron(timingOf(cron), due, now);
    const passOver = async (why: string): Promise<void> => {
      const passed = await store.moveOn(cron, next, async () => true);
      if (passed)
        log.info(
          { cronId: cron.cron_id },
          `Cron ${cron.cron_id} starts no run for ${new Date(due).toISOString()}: ${why}`,
        );
    };
    if (kind === 'astray')
      return passOver(
        `the time found to come after it is over as well. ` +
          (next === undefined ? 'No more runs come.' : `The next run comes at ${new Date(next).toISOString()}.`),
      );
    if (kind === 'passed-over') return passOver('it is over for too long to make up for it.');
    try {
      await fire(cron, next);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (error instanceof ShuttingDown) return;
      if (now - due >= maxWaitMs) await passOver(messageOf(error));
    }
  }

  async function fire(cron: StoredCron, next: number | undefined): Promise<void> {
    const threadId = cron.thread_id ?? undefined;
    const request = (await access?.asMaker(runOf(cron), threadId)) ?? runOf(cron);
    const started = await runs.startWithin(request, threadId, (begin) => store.moveOn(cron, next, begin));
    if (started?.kind === 'busy')
      log.info(
        { cronId: cron.cron_id, threadId: cron.thread_id },
        `Cron ${cron.cron_id} starts no run: thread ${cron.thread_id} is busy, and its strategy is "reject".`,
      );
  }

  return { ...polls, look };
}
