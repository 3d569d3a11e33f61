import type { TracedRunResponse, TracedStep } from '../../../contract/control/tracing-project.ts';

/** A step in the waterfall of its run. */
export interface WaterfallRow {
  step: TracedStep;
  /** Number of steps that contain it. */
  depth: number;
  /** The start and the length of its bar, in percent of the scale. */
  left: number;
  width: number;
  /** Its start, relative to the start of the scale. */
  offsetMs: number;
}

/** The steps of a run, and the length of their common scale. */
export interface WaterfallRows {
  rows: WaterfallRow[];
  totalMs: number;
}

type Timed = Pick<TracedRunResponse, 'created_at' | 'started_at' | 'ended_at' | 'steps'>;

/** The steps of a run in the order of their start, each after the step that contains it. */
export function toWaterfall({ created_at, started_at, ended_at, steps = [] }: Timed): WaterfallRows {
  // The clocks of two processes may differ, so the scale covers every step.
  const starts = steps.map((step) => Date.parse(step.started_at));
  const ends = steps.map((step) => Date.parse(step.ended_at ?? ended_at));
  const startMs = Math.min(Date.parse(started_at ?? created_at), ...starts);
  const endMs = Math.max(Date.parse(ended_at), ...ends);
  const total = Math.max(1, endMs - startMs);
  const share = (ms: number): number => Math.min(100, Math.max(0, (ms / total) * 100));
  const rows: WaterfallRow[] = [];
  const children = Map.groupBy(
    steps.toSorted((one, other) => Date.parse(one.started_at) - Date.parse(other.started_at)),
    (step) => parentOf(step, steps),
  );
  const add = (step: TracedStep, depth: number): void => {
    const start = Date.parse(step.started_at);
    const left = share(start - startMs);
    const end = share(Date.parse(step.ended_at ?? ended_at) - startMs);
    rows.push({ step, depth, left, width: Math.max(0, end - left), offsetMs: start - startMs });
    for (const child of children.get(step) ?? []) add(child, depth + 1);
  };
  for (const step of children.get(undefined) ?? []) add(step, 0);
  return { rows, totalMs: total };
}

/** The step whose subgraph contains a step: the last one of that name that started before it. */
function parentOf({ path, started_at }: TracedStep, steps: readonly TracedStep[]): TracedStep | undefined {
  if (path.length === 0) return undefined;
  const parentKey = JSON.stringify(path);
  return steps.findLast(
    (step) =>
      JSON.stringify([...step.path, step.name]) === parentKey && Date.parse(step.started_at) <= Date.parse(started_at),
  );
}

/** A step of two runs; undefined if only the other run has it. */
export interface StepPair {
  left: TracedStep | undefined;
  right: TracedStep | undefined;
}

const nameOf = ({ path, name }: TracedStep): string => JSON.stringify([...path, name]);

/** Aligns the steps of two runs by the longest common sequence of their names. */
export function alignSteps(left: readonly TracedStep[], right: readonly TracedStep[]): StepPair[] {
  const [one, other] = [left.map(nameOf), right.map(nameOf)];
  // common[i][j]: the length of the longest common sequence after i and j.
  const common = Array.from({ length: one.length + 1 }, () => Array.from({ length: other.length + 1 }, () => 0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      const row = common[i];
      if (row) row[j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: StepPair[] = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    if (i < one.length && j < other.length && one[i] === other[j]) pairs.push({ left: left[i++], right: right[j++] });
    else if (j >= other.length || (i < one.length && at(i + 1, j) >= at(i, j + 1)))
      pairs.push({ left: left[i++], right: undefined });
    else pairs.push({ left: undefined, right: right[j++] });
  }
  return pairs;
}
