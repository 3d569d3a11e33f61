import { percent } from '../../../kit/statistics/sequential-test.ts';
import { counted, durationText, signed } from './words.ts';

/** One measure of a comparison of two agents: right answers, different paths, or the median of an amount. */
export interface MeasureResult {
  measure: string;
  verdict: string;
  /** `false`: the verdict of the test does not follow from it. */
  decides?: boolean;
  live: number;
  changed: number;
}

const names: ReadonlyMap<string, string> = new Map([
  ['answered', 'requests answered'],
  ['pass-rate', 'right answers'],
  ['first-event', 'first event'],
  ['total', 'total time'],
  ['nodes', 'nodes visited'],
  ['node-order', 'order of nodes'],
  ['tools', 'tools called'],
  ['tool-order', 'order of tools'],
]);

/** A measure in words: `right answers`. */
export const measureName = (measure: string): string => names.get(measure) ?? measure;

const paths: ReadonlySet<string> = new Set(['nodes', 'node-order', 'tools', 'tool-order']);

/** Whether a measure is what an answer went through, which is not better or worse, but alike or not. */
export const isPath = (measure: string): boolean => paths.has(measure);

const times: ReadonlySet<string> = new Set(['first-event', 'total']);

/** What is said of a measure: `no worse`. Paths are not better or worse, but alike or not. */
export function measureVerdict({ measure, verdict }: Pick<MeasureResult, 'measure' | 'verdict'>): string {
  if (isPath(measure) && verdict === 'worse') return 'changed';
  if (isPath(measure) && verdict === 'no-worse') return 'alike';
  return verdict.replaceAll('-', ' ');
}

/** The values of a measure, and how far the second one is from the first. The right answers are counted, and shown apart. */
export function measureValues({ measure, live, changed }: MeasureResult): [live: string, changed: string, by: string] {
  if (measure === 'answered') return [percent(live), percent(changed), pointsText(live, changed)];
  if (isPath(measure)) return [pathCount(live), pathCount(changed), ''];
  const text = times.has(measure) ? durationText : amountText;
  const sign = changed > live ? '+' : changed < live ? '-' : '';
  const share = live > 0 ? ` (${signed(Math.round((changed / live - 1) * 100))} %)` : '';
  return [text(live), text(changed), `${sign}${text(Math.abs(changed - live))}${share}`];
}

const pathCount = (count: number): string => counted(count, 'path');
/** Up to 4 digits: `1200`, `0.0012`. */
const amountText = (value: number): string =>
  String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));

/** How many points of a pass rate were won or lost: `-3.3 points`. */
export const pointsText = (live: number, changed: number): string =>
  `${signed(Number(((changed - live) * 100).toFixed(1)))} points`;
