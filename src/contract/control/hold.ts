import * as z from 'zod';

/** The header of a change that asks for a hold of the revision that it makes: a whole number of seconds. */
export const holdHeader = 'Landfall-Hold';

/** The most seconds that a revision can be held, and those of callers that name none. */
export const longestHold = 86_400;

export const holdDecisions = ['promoted', 'discarded'] as const;
export type HoldDecision = (typeof holdDecisions)[number];

/** The hold of a revision, which is started and healthy without traffic. An addition of ours. */
export const hold = z.looseObject({
  /** Where the revision answers by itself while it is held. */
  address: z.string(),
  /** When it is discarded unless it is promoted; null before it is healthy. */
  ends_at: z.string().nullable(),
  decision: z.enum(holdDecisions).nullable(),
});

/** The body of a decision. */
export const holdDecisionRequest = z.object({
  /** Why, for the status and the log of the revision. */
  why: z.string().max(1_000).nullish(),
});
export type HoldDecisionRequest = z.input<typeof holdDecisionRequest>;
