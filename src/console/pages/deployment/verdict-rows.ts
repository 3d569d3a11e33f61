import type { HistoryEntry } from '../../../contract/control/revision-history.ts';
import type { StoredVerdict } from '../../../contract/control/verdict.ts';
import { interval } from '../../../kit/statistics/sequential-test.ts';
import { rateText } from '../../../deploy/words/verdict-table/words.ts';

type StoredTest = StoredVerdict['tests'][number];

/** The maximum number of shown revisions and tests. */
const maximum = { revisions: 12, tests: 30 };

/** The share of right answers with its likely range, each from 0 to 1. */
export interface RateMark {
  rate: number;
  low: number;
  high: number;
}

/** The verdict on one test of one revision. */
export interface VerdictCell {
  revisionId: string;
  kind: string;
  /** Only for a test that counts several answers. */
  mark: RateMark | undefined;
  /** `Passed: 28 of 30 answers right, 93.3 % (78.7 to 98.2 %)` */
  text: string;
}

/** A smoke test with its verdict on each shown revision; undefined if a revision has none. */
export interface VerdictRow {
  name: string;
  cells: (VerdictCell | undefined)[];
}

export interface VerdictTable {
  /** The newest revisions with a verdict, oldest first. */
  revisionIds: string[];
  /** In the order of the newest verdict; tests that it no longer contains follow. */
  rows: VerdictRow[];
  /** The number of tests that are left out. */
  hidden: number;
}

/** The verdicts on each smoke test over the newest revisions that were tested. */
export function verdictTable(entries: readonly HistoryEntry[]): VerdictTable {
  const tested = entries
    .flatMap(({ revision, verdict }) => (verdict && verdict.tests.length > 0 ? [{ id: revision.id, verdict }] : []))
    .slice(0, maximum.revisions);
  const names = [...new Set(tested.flatMap(({ verdict }) => verdict.tests.map(({ name }) => name)))];
  const columns = tested.toReversed();
  const rows = names.slice(0, maximum.tests).map((name): VerdictRow => ({
    name,
    cells: columns.map(({ id, verdict }) => {
      const test = verdict.tests.find((each) => each.name === name);
      return test && { revisionId: id, kind: test.kind, mark: markOf(test), text: cellText(test) };
    }),
  }));
  return { revisionIds: columns.map(({ id }) => id), rows, hidden: names.length - rows.length };
}

/** The counted answers of the revision, in a test of its own rate or against the live one. */
function countOf({ answers, right_answers, comparison }: StoredTest): { right: number; answers: number } | undefined {
  const count = comparison
    ? { right: comparison.right_answers.new, answers: comparison.answers.new }
    : { right: right_answers ?? 0, answers: answers ?? 0 };
  return count.answers === 0 || count.right > count.answers ? undefined : count;
}

function markOf(test: StoredTest): RateMark | undefined {
  const count = countOf(test);
  return count && { rate: count.right / count.answers, ...interval(count.right, count.answers) };
}

function cellText(test: StoredTest): string {
  const { label } = kindOf(test.kind);
  const count = countOf(test);
  if (!count) return label;
  const { comparison } = test;
  const live = comparison ? `, live ${comparison.right_answers.live} of ${comparison.answers.live}` : '';
  return `${label}: ${count.right} of ${count.answers} answers right, ${rateText(count)}${live}`;
}

/** The label of a verdict, with the tone of its badge. */
interface VerdictKind {
  label: string;
  tone: 'good' | 'bad' | 'warn' | 'idle';
}

const kinds: ReadonlyMap<string, VerdictKind> = new Map<string, VerdictKind>([
  ['passed', { label: 'Passed', tone: 'good' }],
  ['failed', { label: 'Failed', tone: 'bad' }],
  ['unproven', { label: 'Not proven', tone: 'warn' }],
]);

/** The label and tone of a verdict; an unknown kind is shown as it is. */
export const kindOf = (kind: string): VerdictKind => kinds.get(kind) ?? { label: kind, tone: 'idle' };
