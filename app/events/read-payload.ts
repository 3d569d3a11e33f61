import type * as z from 'zod';
import type { DecisionOf, EventDecision } from './event-types.ts';

/** Nothing is done, and why: one clause without a full stop. */
export const ignored = (why: string): DecisionOf<'ignore'> => ({ kind: 'ignore', why });

/** Decides on a valid payload; an invalid one is ignored, with its first problem. */
export function readPayload<Schema extends z.ZodType>(
  schema: Schema,
  payload: unknown,
  decide: (read: z.output<Schema>) => EventDecision,
): EventDecision {
  const read = schema.safeParse(payload);
  if (read.success) return decide(read.data);
  const [issue] = read.error.issues;
  const field = issue?.path.map(String).join('.') || 'the payload';
  return ignored(`its payload cannot be read: ${field}: ${issue?.message ?? 'not as documented'}`);
}
