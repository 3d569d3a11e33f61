import { backoffMs } from '../../src/clock.ts';
import type { RunProgress } from './progress.ts';

/** Poll intervals of a run (ms): short without a webhook, long with one. */
const unreported = { first: 250, most: 5_000 };
const tellable = { first: 5_000, most: 20_000 };
/** After a webhook, if the run does not show its end yet. */
const shortly = 500;

/** When a run is polled next (ms since the epoch): with growing intervals, and at its deadline. */
export function nextPollAt({ deadline, looks, reported, tokenHash }: RunProgress, now: number): number {
  const { first, most } = tokenHash === undefined || reported ? unreported : tellable;
  const step = reported ? shortly : backoffMs(looks + 1, first, most);
  return now < deadline ? Math.min(now + step, deadline) : now + shortly;
}
