/** A bar of a sparkline, in units of its drawing: `y` is measured from the top. */
export interface Bar {
  x: number;
  y: number;
  height: number;
}

/** The size of the drawing: one unit of width for each step of the period. */
export const sparklineHeight = 24;
/** No bar is lower, so that a single request among thousands is seen. */
const leastHeight = 2;

/** The bars of counts, as high as their share of `largest`; none for a count of 0. */
export function barsOf(counts: readonly number[], largest: number): Bar[] {
  return counts.flatMap((count, x) => {
    if (count <= 0) return [];
    const height = Math.max(leastHeight, Math.min(sparklineHeight, (count / Math.max(largest, 1)) * sparklineHeight));
    return [{ x, y: sparklineHeight - height, height }];
  });
}

/** The bars as one path, which is cheaper to draw than an element for each. */
export const barsPath = (bars: readonly Bar[]): string =>
  bars.map(({ x, y, height }) => `M${x} ${round(y)}h.8v${round(height)}h-.8z`).join('');

const round = (value: number): number => Math.round(value * 10) / 10;
