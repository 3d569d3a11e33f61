import type { EnvironmentGate, FreezeWindow } from '../file/environment-gate.ts';
import { instantOf, wallTimeAt } from '../../kit/time-zone.ts';

/** Whether anything may be deployed to an environment; `until` (ms since the epoch) is absent where no end is in sight. */
export type FreezeState = { kind: 'open' } | { kind: 'frozen'; until?: number; reason?: string };

/** That an environment is frozen. */
export interface FrozenFacts extends Omit<Extract<FreezeState, { kind: 'frozen' }>, 'kind'> {
  environment: string;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const weekMs = 7 * dayMs;

/** Weekly windows that go over into each other for so long (ms) do so for ever: the clock changes less often. */
const endlessMs = 2 * weekMs;

/**
 * Whether the windows freeze an environment now, and until when: windows that overlap, or follow each other without a
 * gap, are one. The reason is that of the window which lasts longest of those that have begun.
 */
export function decideFreeze(windows: readonly FreezeWindow[], now: number): FreezeState {
  const begun = windows
    .flatMap((window) => spansAround(window, now))
    .filter(({ from, until }) => from <= now && now < until);
  const [longest] = begun.sort((one, other) => other.until - one.until);
  if (longest === undefined) return { kind: 'open' };
  const { reason } = longest;
  const until = endFrom(windows, now);
  return {
    kind: 'frozen',
    ...(until === undefined ? {} : { until }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The freeze of an environment, if it is frozen now. */
export function frozenNow(gate: EnvironmentGate | undefined, now: number): FrozenFacts | undefined {
  if (gate === undefined) return undefined;
  const { kind, ...freeze } = decideFreeze(gate.freeze, now);
  return kind === 'frozen' ? { environment: gate.environment, ...freeze } : undefined;
}

/** When windows end that a moment is in; undefined where that is never. */
function endFrom(windows: readonly FreezeWindow[], moment: number): number | undefined {
  let end = moment;
  for (;;) {
    const around = windows.map((window) => ({ window, spans: spansAround(window, end) }));
    const next = endOf(
      around.flatMap(({ spans }) => spans),
      end,
    );
    // A window that is longer than the weeks looked at goes on into others.
    if (next === end) return end;
    const weekly = around.filter(({ window }) => window.kind === 'weekly').flatMap(({ spans }) => spans);
    if (endOf(weekly, end) >= end + endlessMs) return undefined;
    end = next;
  }
}

/** When spans end that a moment is in; the moment itself where it is in none. */
function endOf(spans: readonly Span[], moment: number): number {
  let end = moment;
  for (const { from, until } of spans.toSorted((one, other) => one.from - other.from)) {
    if (from > end) break;
    end = Math.max(end, until);
  }
  return end;
}

/** One occurrence of a window; the end (ms since the epoch) is not part of it. */
interface Span {
  from: number;
  until: number;
  reason?: string;
}

/** The occurrences of a window that a moment may be in, and those of the three weeks after it. */
function spansAround(window: FreezeWindow, moment: number): Span[] {
  if (window.kind === 'once') return [window];
  const { timeZone, reason } = window;
  const monday = mondayBefore(wallTimeAt(timeZone, moment));
  // One of the week before may go on.
  return [-1, 0, 1, 2, 3].map((weeks) => {
    const wall = (minutes: number): number => monday + weeks * weekMs + minutes * minuteMs;
    const from = instantOf(timeZone, wall(window.from), 'first');
    const until = instantOf(timeZone, wall(window.until), 'last');
    return { from, until, ...(reason === undefined ? {} : { reason }) };
  });
}

/** The epoch began on a Thursday. */
const mondayBefore = (wall: number): number => wall - ((((wall + 3 * dayMs) % weekMs) + weekMs) % weekMs);
