import type { ObservedStatus } from '../planning/rollout-types.ts';
import { asLine } from './sanitize.ts';

const width = 30;

/**
 * Draws when each status was seen, a line a status:
 *
 *     BUILDING  |====================          | 41 s
 *     DEPLOYED  |                             *|
 *
 * The last status has no end, so it is a point.
 */
export function timeline(statuses: readonly ObservedStatus[]): string[] {
  // If the clock was set back, show a later status no earlier than the one before.
  let latest = -Infinity;
  const seen = statuses.map(({ status, at }) => ({ status, at: (latest = Math.max(latest, at)) }));
  const first = seen[0];
  const last = seen.at(-1);
  if (!first || !last) return [];
  const total = Math.max(1, last.at - first.at);
  const column = (at: number): number => Math.min(width - 1, Math.floor(((at - first.at) / total) * width));
  const label = Math.max(...seen.map(({ status }) => asLine(status, 40).length));
  return seen.map(({ status, at }, index) => {
    const next = seen[index + 1];
    const start = column(at);
    const bar = next ? '='.repeat(Math.max(1, column(next.at) - start)) : '*';
    const picture = `${' '.repeat(start)}${bar}`.slice(0, width).padEnd(width);
    return `${asLine(status, 40).padEnd(label)}  |${picture}|${next ? ` ${inWords(next.at - at)}` : ''}`;
  });
}

/** A duration (ms) in words for people: `340 ms`, `2.4 s`, `41 s`, `3 min 5 s`. */
export function inWords(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole} ms`;
  if (whole < 10_000) return `${(whole / 1000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1000);
  if (seconds < 60) return `${seconds} s`;
  const rest = seconds % 60;
  return `${Math.floor(seconds / 60)} min${rest > 0 ? ` ${rest} s` : ''}`;
}
