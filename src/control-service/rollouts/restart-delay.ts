import { backoffMs } from '../../clock.ts';

/** The time (ms) after which an agent counts as well: its next failure is the first again. */
export const wellAfter = 60_000;

/**
 * The failures in a row, without `wellAfter` between them, that make a crash loop: with the backoff this takes at least
 * three minutes.
 */
export const mostBreakdowns = 10;

const shortest = 500;
const longest = 60_000;

/** The delay before a restart (ms), by the number of failures in a row. */
export const restartDelay = (breakdowns: number): number => backoffMs(breakdowns, shortest, longest);
