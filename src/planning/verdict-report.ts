import { cutText } from '../contract/cut-mark.ts';
import type { VerdictReport } from '../contract/control/verdict.ts';
import type { ObservedRate } from '../sequential-test.ts';
import type { NamedVerdict, Verdict } from './verdict-types.ts';

/** Who reports, and how secrets are removed from the texts. */
interface Reporting {
  reporter: VerdictReport['reporter'];
  /** The page of the run. */
  detailsUrl?: string | undefined;
  redact: (text: string) => string;
}

/** Lengths of texts and counts of expectations, the most first: the first that fits is used. */
const sizes = [
  { longest: 2_000, expectations: 50 },
  { longest: 100, expectations: 10 },
  { longest: 100, expectations: 0 },
] as const;
/** Half of what a service takes, in characters of JSON. */
const mostCharacters = 100_000;

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
}

/** The verdict on one test as it is reported and shown. */
export function toReportedTest(
  { name, attempts, verdict }: NamedVerdict,
  { text, longest, expectations }: ReportSize,
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
    })),
    why: isProven ? null : text(verdict.why, longest),
    first_event_ms: (isProven ? verdict.firstEventMs : undefined) ?? null,
    total_ms: isProven ? verdict.totalMs : null,
    ...rateFields(verdict.rate),
  };
}

/** A verdict as the control service takes it; undefined where nothing was tested. */
export function toVerdictReport(
  { kind, tests }: Verdict,
  { reporter, detailsUrl, redact }: Reporting,
): VerdictReport | undefined {
  if (kind === 'none') return undefined;
  // A secret is removed before the text is cut: half of it would not be recognised.
  const text = (full: string, longest: number): string =>
    cutText(redact(full).replaceAll('\0', '').toWellFormed(), longest);
  const versions = sizes.map(
    (size) => () => tests.slice(0, 100).map((test) => toReportedTest(test, { ...size, text })),
  );
  const fits = versions.find((version) => JSON.stringify(version()).length <= mostCharacters) ?? versions.at(-1);
  return { kind, reporter, details_url: detailsUrl ?? null, tests: fits?.() ?? [] };
}
