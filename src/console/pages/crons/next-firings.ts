import { scheduleProblem, timeAfter, type Schedule } from '../../../kit/cron-schedule.ts';

export type Firings =
  | { times: readonly number[]; problem?: undefined }
  | { times?: undefined; problem: { field: 'schedule' | 'timezone'; text: string } };

/** The next times of a schedule after `now` (ms since the epoch), or its problem. */
export function nextFirings(schedule: Schedule, now: number, maxTimes = 5): Firings {
  const problem = scheduleProblem(schedule);
  if (problem) return { problem: { field: problem.field, text: `It ${problem.reason}` } };
  const times: number[] = [];
  for (let at = timeAfter(schedule, now); at !== undefined && times.length < maxTimes; at = timeAfter(schedule, at)) {
    times.push(at);
  }
  return { times };
}

/** A time in a time zone: `Fri, 27 Nov 2026, 09:00`. */
export function timeIn(timezone: string | null | undefined, at: number): string {
  const format = (timeZone: string): string =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
    }).format(at);
  try {
    return format(timezone ?? 'UTC');
  } catch (error) {
    // A zone that the agent knows and this browser does not.
    if (error instanceof RangeError) return `${format('UTC')} UTC`;
    throw error;
  }
}
