import type { ObservedStatus } from '../rules/rollout-types.ts';
import { durationText } from './verdict-table/words.ts';
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
    return `${asLine(status, 40).padEnd(label)}  |${picture}|${next ? ` ${durationText(next.at - at)}` : ''}`;
  });
}
