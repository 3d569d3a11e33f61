import * as z from 'zod';

// Measurements of a smoke test on a revision, stored for comparisons while the revision serves. An addition of ours.

const name = z.string().max(200);
const amount = z.number().min(0);

/** The SHA-256 of what a test sends and expects, in hexadecimal digits. */
export const testHash = z.string().regex(/^[0-9a-f]{64}$/, 'a test hash is 64 hexadecimal digits in lower case');

/** The maximum number of nodes of an answer, and of tool calls. */
export const maxPathLength = 50;

/** The measurements of one answer, without its text. */
export const baselineAnswer = z.strictObject({
  answer: z.enum(['right', 'wrong', 'late']),
  first_event_ms: amount.nullable(),
  total_ms: amount,
  /** The nodes that it visited, in order. */
  nodes: z.array(name).max(maxPathLength),
  /** The tools that it called, in order; null if its messages are unknown. */
  tools: z.array(name).max(maxPathLength).nullish(),
  tokens: amount.nullish(),
  /** By the price list of the test. */
  cost: amount.nullish(),
});

/** The maximum length of all answers as JSON, and their maximum number. */
const maxBaselineLength = 200_000;
export const maxBaselineAnswers = 160;

/** The body of PUT /v2/deployments/{id}/revisions/{id}/baselines/{hash}. */
export const baselineRequest = z.strictObject({
  answers: z
    .array(baselineAnswer)
    .min(1)
    .max(maxBaselineAnswers)
    .refine(
      (answers) => JSON.stringify(answers).length <= maxBaselineLength,
      `all answers together may have ${maxBaselineLength} characters as JSON`,
    ),
});
export type BaselineRequest = z.infer<typeof baselineRequest>;

/** The stored measurements of one test on a revision. */
export const baseline = z.looseObject({
  revision_id: z.string(),
  test_hash: z.string(),
  /** When it was reported. */
  taken_at: z.string(),
  answers: z.array(z.looseObject({ ...baselineAnswer.shape, answer: z.string() })),
});
export type StoredBaseline = z.infer<typeof baseline>;
