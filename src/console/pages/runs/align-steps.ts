import type { TracedStep } from '../../../contract/control/tracing-project.ts';

/** A step of two runs; undefined where only the other one has it. */
export interface StepPair {
  left: TracedStep | undefined;
  right: TracedStep | undefined;
}

const nameOf = ({ path, name }: TracedStep): string => JSON.stringify([...path, name]);

/** The steps of two runs in order, those of one name beside each other: the longest common sequence of names. */
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
