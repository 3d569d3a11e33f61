import type { FreezeWindow } from '../file/environment-gate.ts';
import { instantOf, wallTimeAt } from '../../kit/time-zone.ts';

/** Whether anything may be deployed to an environment; `until` (ms since the epoch) is absent where no end is in sight. */
export type FreezeState = { kind: 'open' } | { kind: 'frozen'; until?: number; reason?: string };

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const weekMs = 7 * dayMs;

/** How far ahead the end is looked for: windows that go over into each other need not end. */
const horizonMs = 400 * dayMs;

/**
 * Whether the windows freeze an environment now, and until when: windows that overlap, or follow each other without a
 * gap, are one. The reason is that of the window which lasts longest of those that have begun.
 */
export function decideFreeze(windows: readonly FreezeWindow[], now: number): FreezeState {
  const first = latestEnd(windows, now);
  if (first === undefined) return { kind: 'open' };
  const reason = first.reason === undefined ? {} : { reason: first.reason };
  let until = first.at;
  for (let next = latestEnd(windows, until); next !== undefined; next = latestEnd(windows, until)) {
    if (until > now + horizonMs) return { kind: 'frozen', ...reason };
    until = next.at;
  }
  return { kind: 'frozen', until, ...reason };
}

interface WindowEnd {
  at: number;
  reason: string | undefined;
}

/** The latest end of the windows that a moment is in. */
function latestEnd(windows: readonly FreezeWindow[], moment: number): WindowEnd | undefined {
  let latest: WindowEnd | undefined;
  for (const window of windows) {
    const at = endAt(window, moment);
    if (at !== undefined && (latest === undefined || at > latest.at)) latest = { at, reason: window.reason };
  }
  return latest;
}

/** The end of a window, if a moment is in it. */
function endAt(window: FreezeWindow, moment: number): number | undefined {
  if (window.kind === 'once') return window.from <= moment && moment < window.until ? window.until : undefined;
  const { timeZone, from, until } = window;
  const monday = mondayBefore(wallTimeAt(timeZone, moment));
  // One of the week before may go on; where the clock is put back at the turn of a week, that of the next has begun.
  const ends = [monday - weekMs, monday, monday + weekMs].flatMap((week) => {
    const begin = instantOf(timeZone, week + from * minuteMs, 'first');
    const end = instantOf(timeZone, week + until * minuteMs, 'last');
    return begin <= moment && moment < end ? [end] : [];
  });
  return ends.length > 0 ? Math.max(...ends) : undefined;
}

/** The epoch began on a Thursday. */
const mondayBefore = (wall: number): number => wall - ((((wall + 3 * dayMs) % weekMs) + weekMs) % weekMs);
