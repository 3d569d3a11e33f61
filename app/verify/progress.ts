import { fromJson } from '../../src/kit/json-text.ts';
import * as z from 'zod';
import { isObject } from '../../src/kit/json-object.ts';
import type { ConversationCourse } from '../../src/deploy/rules/conversation-course.ts';
import type { Evidence, NamedVerdict } from '../../src/deploy/rules/verdict-types.ts';
import type { SmokeState } from '../reconcile/intent.ts';
import type { TestAnswers } from '../../src/deploy/machine/state.ts';

/** How often in a row an attempt may be lost with its process before it counts as one without a response. */
export const maxLost = 3;

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

const evidence = z.custom<Evidence>((value) => isObject(value) && typeof value['kind'] === 'string');

/** JSON is stored as text: a response may hold characters that Postgres' jsonb rejects. */
const jsonText = z.string().transform((text) => fromJson(text));

/** Has its answer, before others that were sent at once with it. */
const answeredAttempt = z.object({ kind: z.literal('answered'), evidence: jsonText.pipe(evidence) });

const currentAttempt = z.discriminatedUnion('kind', [preparedAttempt, runProgress, answeredAttempt]);
/** One of the attempts that are made at once. */
export type CurrentAttempt = z.infer<typeof currentAttempt>;

/** The hashes of the webhook tokens of runs that have not ended. */
export const tokensOf = (attempts: readonly CurrentAttempt[]): string[] =>
  attempts.flatMap((each) => (each.kind === 'answered' || each.tokenHash === undefined ? [] : [each.tokenHash]));

const storedProgress = z.object({
  version: z.literal([1, 2]),
  kept: jsonText,
  /** The current attempts, in their order; empty between two of them. One at most in version 1. */
  under: z.preprocess((stored) => [stored ?? []].flat(), z.array(currentAttempt)),
  /** How many attempts are made next, once the test has some, and not before (ms since the epoch). */
  count: z.int().default(1),
  notBefore: z.number().default(0),
  leftovers: z.array(attemptResources).default([]),
  /** How often in a row a process prepared an attempt and ended before its result was known. */
  lost: z.int().default(0),
  /** The agent accepts no webhook, or does not call it. */
  withoutWebhook: z.boolean().default(false),
  /** Hashes of the tokens of runs that have ended. */
  spent: z.array(z.string()).default([]),
  /** The conversations are being tried, and how often in a row that ended with its process. */
  conversations: z.object({ id: z.uuid(), tries: z.int() }).optional(),
});

const storedResults = z.object({
  verdicts: z.array(z.custom<NamedVerdict>((value) => isObject(value) && isObject(value['verdict']))),
  attempts: z.array(evidence),
  compared: z.array(z.custom<TestAnswers>((value) => isObject(value) && Array.isArray(value['samples']))).default([]),
  /** How far the conversations are. */
  course: z.custom<Omit<ConversationCourse, 'id' | 'tries'>>(isObject).exactOptional(),
});

const nothingYet: SmokeState = { version: 2, kept: '{"verdicts":[],"attempts":[]}' };

/** The progress of one intent's tests: finished tests, and attempts at the current one. */
export interface Progress extends Omit<z.infer<typeof storedProgress>, 'version' | 'kept' | 'under' | 'conversations'> {
  /** Attempts that are made at once, until each has its answer. */
  currentAttempts: readonly CurrentAttempt[];
  conversations?: ConversationCourse | undefined;
  verdicts: readonly NamedVerdict[];
  attempts: readonly Evidence[];
  /** What was answered to the finished tests that compare. */
  compared: readonly TestAnswers[];
}

/** Reads the stored progress. State of another version starts over. */
export function readProgress(state: SmokeState | undefined): Progress {
  const read = storedProgress.safeParse(state);
  const held = storedResults.safeParse(read.data?.kept);
  if (!read.success || !held.success) return readProgress(nothingYet);
  const { version: _, kept: __, under: currentAttempts, conversations, ...rest } = read.data;
  const { course, ...results } = held.data;
  return { ...rest, ...results, currentAttempts, conversations: conversations && { ...course, ...conversations } };
}

/** The progress as it is stored. */
export function writeProgress({
  verdicts,
  attempts,
  compared,
  currentAttempts,
  conversations,
  ...rest
}: Progress): SmokeState {
  const { id, tries, ...course } = conversations ?? {};
  const kept = JSON.stringify({ verdicts, attempts, compared, ...(conversations && { course }) });
  const stored = currentAttempts.map((each) =>
    each.kind === 'answered' ? { ...each, evidence: JSON.stringify(each.evidence) } : each,
  );
  const begun = id !== undefined && tries !== undefined ? { conversations: { id, tries } } : {};
  return { version: 2, ...rest, ...begun, under: stored, kept } satisfies z.input<typeof storedProgress>;
}
