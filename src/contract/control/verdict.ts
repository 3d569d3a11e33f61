import * as z from 'zod';

// What the Action, the App and the command line found when they tested a revision: docs/design/contract.md has
// no place for it.

const text = (maxLength: number) => z.string().max(maxLength);

/** An expectation of a test, and the observed value. */
export const reportedExpectation = z.strictObject({
  expected: text(2_000),
  seen: text(2_000),
  held: z.boolean(),
  /** Whether it is only shown and has no influence on the verdict. */
  advises: z.literal(true).optional(),
});

const liveAndNew = <Value extends z.ZodType>(value: Value) => z.strictObject({ live: value, new: value });
const times = z.array(z.number().min(0)).max(200);

/** The comparison of the tested agent with the live one. */
export const reportedComparison = z.strictObject({
  answers: liveAndNew(z.int().min(0)),
  right_answers: liveAndNew(z.int().min(0)),
  /** Number of requests without an answer from either agent. */
  unreachable: z.int().min(0),
  /** Whether the live agent was measured at the same time as the new one, instead of before it. */
  beside: z.boolean(),
  measures: z
    .array(
      z.strictObject({
        measure: text(50),
        verdict: z.enum(['worse', 'no-worse', 'undecided', 'not-measured']),
        /** Whether the verdict of the test depends on it. */
        decides: z.boolean(),
        p_value: z.number().min(0).max(1),
        /** Right answers, median ms, tokens or cost, or the number of different paths. */
        live: z.number(),
        new: z.number(),
      }),
    )
    .max(20),
  /** Total times of answers. */
  times_ms: liveAndNew(times),
});
export type ReportedComparison = z.infer<typeof reportedComparison>;

/** The verdict on one smoke test. */
export const reportedTest = z.strictObject({
  name: text(200),
  kind: z.enum(['passed', 'failed', 'unproven']),
  attempts: z.int().min(0),
  expectations: z.array(reportedExpectation).max(50),
  /** The reason if nothing is proven; else null. */
  why: text(2_000).nullable(),
  first_event_ms: z.number().min(0).nullable(),
  total_ms: z.number().min(0).nullable(),
  /** For a test that counts answers: how many it counted, and how many of those were right. */
  answers: z.int().min(0).nullish(),
  right_answers: z.int().min(0).nullish(),
  /** The two pass rates between which the answers decide, from 0 to 1. */
  pass_rate: z.number().min(0).max(1).nullish(),
  low_rate: z.number().min(0).max(1).nullish(),
  /** For a test against the live revision. */
  comparison: reportedComparison.nullish(),
});

/** Limit for the JSON of all tests of a report, in characters. */
const maxTestsLength = 200_000;

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
      (tests) => JSON.stringify(tests).length <= maxTestsLength,
      `all tests together may have ${maxTestsLength} characters as JSON`,
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
