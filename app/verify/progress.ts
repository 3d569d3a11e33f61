import { fromJson } from '../../src/kit/json-text.ts';
import * as z from 'zod';
import { isObject } from '../../src/kit/json-object.ts';
import type { Evidence, NamedVerdict } from '../../src/deploy/rules/verdict-types.ts';
import type { SmokeState } from '../reconcile/intent.ts';
import type { TestAnswers } from '../../src/deploy/machine/state.ts';

/** How often in a row an attempt may be lost with its process before it counts as one without a response. */
export const mostLost = 3;

/** What an attempt made at the agent, to be removed after it. Names the run if it may still be active. */
const attemptResources = z.object({
  test: z.string(),
  threadId: z.string().optional(),
  assistantId: z.string().optional(),
  runId: z.string().optional(),
});
export type AttemptResources = z.infer<typeof attemptResources>;

/** Ids were chosen, and no request is known to have been sent. Only the process that chose them continues. */
const preparedAttempt = z.object({
  kind: z.literal('prepared'),
  threadId: z.uuid(),
  assistantId: z.uuid().optional(),
  /** SHA-256 of the run's webhook token. */
  tokenHash: z.string().optional(),
});
export type PreparedAttempt = z.infer<typeof preparedAttempt>;

/** An active background run. Times are ms since the epoch. */
const runProgress = z.object({
  kind: z.literal('started'),
  threadId: z.string(),
  runId: z.string(),
  assistantId: z.string().optional(),
  tokenHash: z.string().optional(),
  sentAt: z.number(),
  deadline: z.number(),
  /** When it is polled next without a webhook, and how often it was. */
  lookAt: z.number(),
  looks: z.int(),
  /** The queue was notified before the next poll. */
  reported: z.boolean(),
});
export type RunProgress = z.infer<typeof runProgress>;

const storedProgress = z.object({
  version: z.literal(1),
  /** The stored JSON, as text: a response may hold characters that Postgres' jsonb rejects. */
  kept: z.string(),
  /** What is under way; absent between two attempts. */
  under: z.discriminatedUnion('kind', [preparedAttempt, runProgress]).optional(),
  /** The next attempt does not start before (ms since the epoch). */
  notBefore: z.number().optional(),
  leftovers: z.array(attemptResources),
  /** How often in a row a process prepared an attempt and ended before its result was known. */
  lost: z.int(),
  /** The agent accepts no webhook, or does not call it. */
  withoutWebhook: z.boolean(),
  /** Hashes of the tokens of runs that have ended. */
  spent: z.array(z.string()),
  /** The conversations are about to be tried: by the process that chose the id, and how often that was so. */
  conversations: z.object({ id: z.uuid(), tries: z.int() }).optional(),
});

const storedResults = z.object({
  verdicts: z.array(z.custom<NamedVerdict>((value) => isObject(value) && isObject(value['verdict']))),
  attempts: z.array(z.custom<Evidence>((value) => isObject(value) && typeof value['kind'] === 'string')),
  compared: z.array(z.custom<TestAnswers>((value) => isObject(value) && Array.isArray(value['samples']))).default([]),
});

/** The progress of one intent's tests: finished tests, and attempts at the current one. */
export interface Progress extends Omit<z.infer<typeof storedProgress>, 'version' | 'kept'> {
  verdicts: readonly NamedVerdict[];
  attempts: readonly Evidence[];
  /** What was answered to the finished tests that compare. */
  compared: readonly TestAnswers[];
}

const nothingYet: Progress = {
  verdicts: [],
  attempts: [],
  compared: [],
  leftovers: [],
  lost: 0,
  withoutWebhook: false,
  spent: [],
};

/** Reads the stored progress. State of another version starts over. */
export function readProgress(state: SmokeState | undefined): Progress {
  const read = storedProgress.safeParse(state);
  if (!read.success) return nothingYet;
  const { version: _, kept: text, ...rest } = read.data;
  const held = storedResults.safeParse(fromJson(text));
  return held.success ? { ...rest, ...held.data } : nothingYet;
}

/** The progress as it is stored. */
export function writeProgress({ verdicts, attempts, compared, ...rest }: Progress): SmokeState {
  const kept = JSON.stringify({ verdicts, attempts, compared });
  return { version: 1, ...rest, kept } satisfies z.input<typeof storedProgress>;
}
