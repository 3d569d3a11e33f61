import { cutText } from '../../kit/plain-text.ts';
import type { ReportedComparison, VerdictReport } from '../../contract/control/verdict.ts';
import type { ObservedRate } from '../../kit/statistics/sequential-test.ts';
import type { Comparison, NamedVerdict, Verdict } from './verdict-types.ts';

/** Who reports, and how secrets are removed from the texts. */
interface Reporting {
  reporter: VerdictReport['reporter'];
  /** The page of the run. */
  detailsUrl?: string | undefined;
  /** Whether the service takes comparisons and advice. */
  comparisons?: boolean | undefined;
  redact: (text: string) => string;
}

/** Lengths of texts and counts of expectations, the most first: the first that fits is used. */
const sizes = [
  { longest: 2_000, expectations: 50, times: 160 },
  { longest: 100, expectations: 10, times: 20 },
  { longest: 100, expectations: 0, times: 0 },
] as const;
/** Half of what a service takes, in characters of JSON. */
const maxCharacters = 100_000;

/** The fields of a series in a report, and in the JSON of a result. */
export const rateFields = (rate: ObservedRate | undefined) =>
  rate && {
    answers: rate.answers,
    right_answers: rate.right,
    ...(rate.passRate === undefined ? {} : { pass_rate: rate.passRate }),
    ...(rate.lowRate === undefined ? {} : { low_rate: rate.lowRate }),
  };

/** How the texts of a reported test are prepared, and how many expectations it has at most. */
interface ReportSize {
  text: (full: string, longest: number) => string;
  longest: number;
  expectations: number;
  /** The most times of each agent. */
  times: number;
}

/** So many of a list, from its whole length. */
const some = (list: readonly number[], most: number): number[] =>
  list.filter(
    (_, index) => Math.floor((index * most) / list.length) !== Math.floor(((index - 1) * most) / list.length),
  );

/** A comparison as it is reported, with so many times of each agent. */
export function toReportedComparison(comparison: Comparison, times: number): ReportedComparison {
  const { unreachable, isBeside, measures } = comparison;
  return {
    answers: { live: comparison.live.answers, new: comparison.changed.answers },
    right_answers: { live: comparison.live.right, new: comparison.changed.right },
    unreachable,
    beside: isBeside,
    measures: measures.map(({ measure, verdict, decides, chance, live, changed }) => ({
      measure,
      verdict,
      decides,
      p_value: chance,
      live,
      new: changed,
    })),
    times_ms: { live: some(comparison.times.live, times), new: some(comparison.times.changed, times) },
  };
}

/** The verdict on one test as it is reported and shown. */
export function toReportedTest(
  { name, attempts, verdict }: NamedVerdict,
  { text, longest, expectations, times }: ReportSize,
): VerdictReport['tests'][number] {
  const isProven = verdict.kind !== 'unproven';
  const held = isProven ? verdict.held.slice(0, expectations) : [];
  return {
    name: text(name, 200),
    kind: verdict.kind,
    attempts,
    expectations: held.map((each) => ({
      expected: text(each.expected, longest),
      seen: text(each.seen, longest),
      held: each.held,
      ...(each.advises ? { advises: true } : {}),
    })),
    why: isProven ? null : text(verdict.why, longest),
    first_event_ms: (isProven ? verdict.firstEventMs : undefined) ?? null,
    total_ms: isProven ? verdict.totalMs : null,
    ...rateFields(verdict.rate),
    ...(verdict.comparison ? { comparison: toReportedComparison(verdict.comparison, times) } : {}),
  };
}

/** A verdict as the control service takes it; undefined where nothing was tested. */
export function toVerdictReport(
  { kind, tests }: Verdict,
  { reporter, detailsUrl, comparisons = false, redact }: Reporting,
): VerdictReport | undefined {
  if (kind === 'none') return undefined;
  // A secret is removed before the text is cut: half of it would not be recognised.
  const text = (full: string, longest: number): string =>
    cutText(redact(full).replaceAll('\0', '').toWellFormed(), longest);
  const versions = sizes.map(
    (size) => () =>
      tests.slice(0, 100).map((test) => {
        const { comparison, ...reported } = toReportedTest(test, { ...size, text });
        if (comparisons) return comparison ? { ...reported, comparison } : reported;
        return { ...reported, expectations: reported.expectations.filter(({ advises }) => !advises) };
      }),
  );
  const fits = versions.find((version) => JSON.stringify(version()).length <= maxCharacters) ?? versions.at(-1);
  return { kind, reporter, details_url: detailsUrl ?? null, tests: fits?.() ?? [] };
}
