import type { Health, HealthPoint } from '../../../contract/control/health.ts';
import { sizeText } from '../../parts/words.ts';

/** A line of a plot. */
interface Line {
  label: string;
  value: (point: HealthPoint, stepSeconds: number) => number | null;
}

/** A plot of the page. */
export interface PlotKind {
  title: string;
  lines: readonly Line[];
  /** A value with its unit: `1.2 s`. */
  format: (value: number) => string;
  /** Whether all values are whole numbers. */
  isWhole?: boolean;
  /** What exactly is measured, if the title is not precise. */
  measures?: string;
}

const ms = (value: number): string => {
  if (value < 1_000) return `${numberText(value)} ms`;
  return value < 60_000 ? `${numberText(value / 1_000)} s` : `${numberText(value / 60_000)} min`;
};

const numberText = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 1 });
const percent = (value: number): string => `${numberText(value * 100)} %`;

/** Everything that is plotted, in the order of the page. */
export const plotKinds: readonly PlotKind[] = [
  {
    title: 'Runs a minute',
    lines: [
      { label: 'Runs', value: ({ runs }, stepSeconds) => (runs * 60) / stepSeconds },
      { label: 'Interrupted', value: ({ interrupted_runs }, stepSeconds) => (interrupted_runs * 60) / stepSeconds },
    ],
    format: numberText,
  },
  {
    title: 'Run latency',
    lines: [
      { label: 'p50', value: ({ run_p50_ms }) => run_p50_ms },
      { label: 'p95', value: ({ run_p95_ms }) => run_p95_ms },
    ],
    format: ms,
  },
  {
    title: 'First event of a stream',
    lines: [
      { label: 'p50', value: ({ first_event_p50_ms }) => first_event_p50_ms },
      { label: 'p95', value: ({ first_event_p95_ms }) => first_event_p95_ms },
    ],
    format: ms,
    measures: 'Measured for streamed requests of clients. Playground runs do not count.',
  },
  {
    title: 'Errors',
    lines: [
      { label: 'Failed requests', value: ({ errors }) => errors },
      { label: 'Failed runs', value: ({ failed_runs }) => failed_runs },
    ],
    format: numberText,
    isWhole: true,
  },
  { title: 'Memory', lines: [{ label: 'Memory', value: ({ memory_bytes }) => memory_bytes }], format: sizeText },
  { title: 'CPU', lines: [{ label: 'CPU', value: ({ cpu }) => cpu }], format: percent },
  {
    title: 'Queue length',
    lines: [{ label: 'Pending', value: ({ queue_length }) => queue_length }],
    format: numberText,
    isWhole: true,
  },
];

/** Seconds since 1970, and a row of values for each line; null where nothing was measured. */
export type PlotData = [times: number[], ...values: (number | null)[][]];

/** The data of a plot. */
export const plotData = ({ points, step_seconds }: Health, { lines }: PlotKind): PlotData => [
  points.map(({ at }) => Date.parse(at) / 1_000),
  ...lines.map(({ value }) => points.map((point) => value(point, step_seconds))),
];

/** The indexes of values between two gaps, which a line does not show. */
export const isolatedPoints = (values: ArrayLike<number | null | undefined>): number[] =>
  Array.from(values, (_value, index) => index).filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );

/** Whether anything was measured in a period. */
export const hasFigures = ({ points }: Health): boolean => points.some(isMeasured);

/** Whether a step has any figure. */
export const isMeasured = (point: HealthPoint): boolean =>
  point.requests > 0 || point.runs > 0 || [point.memory_bytes, point.cpu, point.queue_length].some((it) => it !== null);

/** A plot as a sentence, for screen readers: `Memory: highest 92 MB, latest 80 MB.` */
export function summaryOf(health: Health, kind: PlotKind): string {
  const [, ...rows] = plotData(health, kind);
  const parts = kind.lines.map(({ label }, index) => {
    const values = (rows[index] ?? []).filter((value) => value !== null);
    const latest = values.at(-1);
    const name = kind.lines.length > 1 ? `${label} ` : '';
    if (latest === undefined) return `${name}not measured`;
    return `${name}highest ${kind.format(Math.max(...values))}, latest ${kind.format(latest)}`;
  });
  return `${kind.title}: ${parts.join('; ')}.`;
}

/** The label of a vertical line: the position of the line, and the width of the text. */
interface LineLabel {
  x: number;
  width: number;
}

/** The maximum number of label rows; more would cover the plot. */
const maxLabelRows = 2;

/**
 * Places each label to the right of its line (at the right edge to the left), in the first row with space for it.
 * Labels without space are left out.
 */
export function placeLabels<Label extends LineLabel>(
  labels: readonly Label[],
  { right, gap }: { right: number; gap: number },
): (Label & { start: number; row: number })[] {
  const ends = Array.from({ length: maxLabelRows }, () => -Infinity);
  return labels
    .toSorted((one, other) => one.x - other.x)
    .flatMap((label) => {
      const { x, width } = label;
      const start = x + gap + width > right ? x - gap - width : x + gap;
      const row = ends.findIndex((end) => end + gap <= start);
      if (row === -1) return [];
      ends[row] = start + width;
      return [{ ...label, start, row }];
    });
}

const hour = 3_600_000;

/** The periods that the page shows. */
export const ranges = [
  { id: '1h', label: '1 hour', ms: hour },
  { id: '6h', label: '6 hours', ms: 6 * hour },
  { id: '24h', label: '24 hours', ms: 24 * hour },
  { id: '7d', label: '7 days', ms: 7 * 24 * hour },
  { id: '30d', label: '30 days', ms: 30 * 24 * hour },
] as const;
export type Range = (typeof ranges)[number];

const minPeriodMs = 600_000;

/** The start of a period (ms), but not before the deployment was created. */
export const startOf = ({ ms }: Range, createdAt: string, now: number): number =>
  Math.max(now - ms, Math.min(Date.parse(createdAt), now - minPeriodMs));

/** The period with this id; by default the shortest one. */
export const rangeOf = (id: string | undefined): Range => ranges.find((range) => range.id === id) ?? ranges[0];
