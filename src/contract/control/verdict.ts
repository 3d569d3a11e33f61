import * as z from 'zod';

// What the Action, the App and the command line found when they tested a revision: docs/design/contract.md has
// no place for it.

const text = (longest: number) => z.string().max(longest);

/** One thing that was expected, and what was seen. */
export const reportedExpectation = z.strictObject({
  expected: text(2_000),
  seen: text(2_000),
  held: z.boolean(),
  /** It is only shown: the verdict does not follow from it. */
  advises: z.literal(true).optional(),
});

const ofBoth = <Value extends z.ZodType>(value: Value) => z.strictObject({ live: value, new: value });
const times = z.array(z.number().min(0)).max(200);

/** The answers of the tested agent beside those of the live one. */
export const reportedComparison = z.strictObject({
  answers: ofBoth(z.int().min(0)),
  right_answers: ofBoth(z.int().min(0)),
  /** Requests without an answer, of either agent. */
  unreachable: z.int().min(0),
  /** Whether the live agent answered beside the new one, or before it. */
  beside: z.boolean(),
  measures: z
    .array(
      z.strictObject({
        measure: text(50),
        verdict: z.enum(['worse', 'no-worse', 'undecided', 'not-measured']),
        /** Whether the verdict of the test follows from it. */
        decides: z.boolean(),
        p_value: z.number().min(0).max(1),
        /** Right answers, median ms, tokens or cost, or the number of different paths. */
        live: z.number(),
        new: z.number(),
      }),
    )
    .max(20),
  /** Total times of answers. */
  times_ms: ofBoth(times),
});
export type ReportedComparison = z.infer<typeof reportedComparison>;

/** The verdict on one smoke test. */
export const reportedTest = z.strictObject({
  name: text(200),
  kind: z.enum(['passed', 'failed', 'unproven']),
  attempts: z.int().min(0),
  expectations: z.array(reportedExpectation).max(50),
  /** Why nothing is proven; null otherwise. */
  why: text(2_000).nullable(),
  first_event_ms: z.number().min(0).nullable(),
  total_ms: z.number().min(0).nullable(),
  /** Of a test that counts several answers: those that it decided by, and how many of them were right. */
  answers: z.int().min(0).nullish(),
  right_answers: z.int().min(0).nullish(),
  /** The two pass rates that they decide between, from 0 to 1. */
  pass_rate: z.number().min(0).max(1).nullish(),
  low_rate: z.number().min(0).max(1).nullish(),
  /** Of a test against the live revision. */
  comparison: reportedComparison.nullish(),
});

/** The most characters of the tests of a report, as JSON. */
const maxLength = 200_000;

/** The body of POST /v2/deployments/{id}/revisions/{id}/verdicts. */
export const verdictReport = z.strictObject({
  kind: z.enum(['passed', 'failed', 'unproven']),
  /** Who tested: `action`, `app` or `cli`. */
  reporter: z.enum(['action', 'app', 'cli']),
  /** The page of the workflow run or the check run. */
  details_url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullish(),
  tests: z
    .array(reportedTest)
    .max(100)
    .refine(
      (tests) => JSON.stringify(tests).length <= maxLength,
      `all tests together may have ${maxLength} characters as JSON`,
    ),
});
export type VerdictReport = z.infer<typeof verdictReport>;

/** A stored verdict. */
export const verdict = z.looseObject({
  id: z.string(),
  created_at: z.string(),
  kind: z.string(),
  reporter: z.string(),
  details_url: z.string().nullish(),
  tests: z.array(z.looseObject({ ...reportedTest.shape, kind: z.string() })),
});
export type StoredVerdict = z.infer<typeof verdict>;

/** The verdicts of a revision, newest first. */
export const verdictsList = z.looseObject({ resources: z.array(verdict) });
export type VerdictsList = z.infer<typeof verdictsList>;
