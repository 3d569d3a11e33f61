import { median } from '../../../kit/statistics/comparison-statistics.ts';
import { durationText } from './words.ts';

/** Two distributions of times on one scale, as characters: `·▂█▃·`. The scale is `from` to `to`, in ms. */
interface LatencyPlot {
  live: string;
  changed: string;
  from: number;
  to: number;
  /** Whether a time above `to` is counted in the last column. */
  isCut: boolean;
}

/** How many columns a plot has. */
const width = 12;
const blocks = '▁▂▃▄▅▆▇█';
/** Of a column without any answer: a blank would vanish in Markdown. */
const none = '·';

/** The value below which this share of the values is, from 0 to 1. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Draws how long the answers of two agents took; undefined where one has none, or where all took equally long. */
function latencyPlot(live: readonly number[], changed: readonly number[]): LatencyPlot | undefined {
  if (live.length === 0 || changed.length === 0) return undefined;
  const all = [...live, ...changed];
  const from = quantile(all, 0);
  // One slow answer would press all others into the first column.
  const to = Math.max(quantile(live, 0.9), quantile(changed, 0.9));
  if (to <= from) return undefined;
  const shares = (values: readonly number[]): number[] => {
    const counts = Array.from({ length: width }, () => 0);
    for (const value of values) {
      const column = Math.min(width - 1, Math.floor(((value - from) / (to - from)) * width));
      counts[column] = (counts[column] ?? 0) + 1 / values.length;
    }
    return counts;
  };
  const [former, latter] = [shares(live), shares(changed)];
  const highest = Math.max(...former, ...latter);
  const drawn = (columns: readonly number[]): string =>
    columns.map((share) => (share === 0 ? none : blocks[Math.ceil((share / highest) * blocks.length) - 1])).join('');
  return { live: drawn(former), changed: drawn(latter), from, to, isCut: all.some((value) => value > to) };
}

/** The plots of two agents with their medians, and the scale of both. */
export interface LatencyPlots {
  lines: { name: 'live' | 'new'; plot: string; median: string }[];
  /** `564 ms to 4.9 s` */
  scale: string;
}

/** Draws how long the answers of two agents took, and says it in words; undefined where there is nothing to draw. */
export function latencyPlots(live: readonly number[], changed: readonly number[]): LatencyPlots | undefined {
  const plot = latencyPlot(live, changed);
  if (!plot) return undefined;
  return {
    lines: [
      { name: 'live', plot: plot.live, median: durationText(median(live)) },
      { name: 'new', plot: plot.changed, median: durationText(median(changed)) },
    ],
    scale: `${durationText(plot.from)} to ${plot.isCut ? 'over ' : ''}${durationText(plot.to)}`,
  };
}
