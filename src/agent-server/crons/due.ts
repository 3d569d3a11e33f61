import { timeAfter } from './schedule.ts';
import type { Schedule } from './schedule.ts';

/** How long ago (ms) a time may be that was missed while nobody ran, for one run to make up for all that were missed. */
const MADE_UP_FOR_MS = 3_600_000;

/** How far (ms) a clock has to be set back for times to be computed anew: a correction by seconds repeats no run. */
export const SET_BACK_MS = 60_000;

/** A cron, as far as its times go: milliseconds since the epoch. */
export interface Timing extends Schedule {
  /** The last moment at which a run may come; undefined where there is no end. */
  end: number | undefined;
}

/**
 * What becomes of a cron whose time has come; `next` is the time of the run after that, undefined where there is none. It
 * is `astray` where the time found to come next is over as well: it would be due again at once, and at each look.
 */
export interface Due {
  kind: 'run' | 'passed-over' | 'astray';
  next: number | undefined;
}

/** The time of the first run after `after`; undefined where none comes before the end. */
export function nextRun(timing: Timing, after: number): number | undefined {
  const next = timeAfter(timing, after);
  return next === undefined || (timing.end !== undefined && next > timing.end) ? undefined : next;
}

/**
 * Decides about a cron whose time has come, be it now or long ago: one run for all the times that are over, if the last
 * of them is not too long ago; the others are passed over.
 *
 * @param due the time that has come, at `now` or before.
 */
export function whatIsDue(timing: Timing, due: number, now: number): Due {
  const next = nextRun(timing, now);
  if (next !== undefined && next <= now) {
    // A stretch of time further on the schedule may be read rightly again; where it is not, nothing comes any more.
    const further = nextRun(timing, now + MADE_UP_FOR_MS);
    return { kind: 'astray', next: further !== undefined && further > now ? further : undefined };
  }
  const early = now - MADE_UP_FOR_MS;
  const fresh = due >= early ? due : nextRun(timing, early - 1);
  return { kind: fresh !== undefined && fresh <= now ? 'run' : 'passed-over', next };
}

/**
 * The time at which the next run of a cron comes when the clock was set back since `due` was computed: without that no
 * run would come until the clock is there again.
 *
 * @returns undefined where `due` stands.
 */
export function earlierThan(due: number, timing: Timing, now: number): number | undefined {
  const latest = nextRun(timing, now + SET_BACK_MS);
  if (latest === undefined || due <= latest) return undefined;
  const next = nextRun(timing, now);
  // A schedule that is read so that its next time is over is moved on by those who fire it.
  return next !== undefined && next > now ? next : undefined;
}
