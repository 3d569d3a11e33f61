/** An agent that served this long (ms) was well: its next breakdown counts as the first. */
export const wellAfter = 60_000;

/**
 * An agent that broke down so many times in a row, never serving for `wellAfter` between, is in a loop: with the waits
 * between its starts that takes three minutes at least.
 */
export const mostBreakdowns = 10;

const shortest = 500;
const longest = 60_000;

/** How long to wait before an agent is started again (ms), after so many breakdowns in a row. */
export const restartDelay = (breakdowns: number): number => Math.min(shortest * 2 ** (breakdowns - 1), longest);
