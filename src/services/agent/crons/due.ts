import { setBackMs } from '../../../kit/clock.ts';
import { timeAfter, type Schedule } from '../../../kit/cron-schedule.ts';

/** How old (ms) the latest missed time may be for one run to make up for all times missed while no process ran. */
const madeUpForMs = 3_600_000;

/** The timing of a cron, in milliseconds since the epoch. */
export interface Timing extends Schedule {
  /** The last moment for a run; undefined for no end. */
  end: number | undefined;
}

/**
 * What to do about a due cron; `next` is the time of the following run, undefined if there is none. `astray` means that
 * the computed next time has already passed: the cron would be due again at each poll.
 */
export interface DueDecision {
  kind: 'run' | 'passed-over' | 'astray';
  next: number | undefined;
}

/** The time of the first run after `after`; undefined if none comes before the end. */
export function nextRun(timing: Timing, after: number): number | undefined {
  const next = timeAfter(timing, after);
  return next === undefined || (timing.end !== undefined && next > timing.end) ? undefined : next;
}

/** The times of the next runs after `after`: at most so many. */
export function nextRuns(timing: Timing, after: number, max: number): number[] {
  const times: number[] = [];
  for (let next = nextRun(timing, after); next !== undefined && times.length < max; next = nextRun(timing, next))
    times.push(next);
  return times;
}

/** Decides about a cron due at `now` or before: one run for all the times passed if the latest is recent enough. */
export function decideDueCron(timing: Timing, due: number, now: number): DueDecision {
  const next = nextRun(timing, now);
  if (next !== undefined && next <= now) {
    // A later part of the schedule may be computed correctly again; if not, no run follows.
    const further = nextRun(timing, now + madeUpForMs);
    return { kind: 'astray', next: further !== undefined && further > now ? further : undefined };
  }
  const early = now - madeUpForMs;
  const fresh = due >= early ? due : nextRun(timing, early - 1);
  return { kind: fresh !== undefined && fresh <= now ? 'run' : 'passed-over', next };
}

/** The next run's time if the clock was set back since `due` was computed; undefined if `due` stands. */
export function nextRunAfterSetBack(due: number, timing: Timing, now: number): number | undefined {
  const latest = nextRun(timing, now + setBackMs);
  if (latest === undefined || due <= latest) return undefined;
  const next = nextRun(timing, now);
  // `decideDueCron` handles a schedule whose next time is computed to be in the past.
  return next !== undefined && next > now ? next : undefined;
}
