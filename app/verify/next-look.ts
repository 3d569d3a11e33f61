import type { AskedProgress } from './progress.ts';

/** How long between two looks at a run (ms): soon where nobody tells of its end, seldom where somebody should. */
const unreported = { first: 250, most: 5_000 };
const tellable = { first: 5_000, most: 20_000 };
/** After the agent told of an end that the run itself does not show yet. */
const shortly = 500;

/** When a run is looked at again by itself (ms since the epoch): in growing steps, and when its time is over. */
export function nextLook({ deadline, looks, reported, tokenHash }: AskedProgress, now: number): number {
  const { first, most } = tokenHash === undefined || reported ? unreported : tellable;
  const step = reported ? shortly : Math.min(most, first * 2 ** looks);
  return now < deadline ? Math.min(now + step, deadline) : now + shortly;
}
