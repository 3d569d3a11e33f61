import * as z from 'zod';
import { duration } from './written-text.ts';

const maxConversations = 100;
const maxTimeoutMs = 600_000;

const written = z.strictObject({
  newest: z.int().min(1).max(maxConversations),
  message: z.union([z.string().min(1), z.record(z.string(), z.unknown())]).exactOptional(),
  resume: z.unknown().optional(),
  timeout: duration(1_000, maxTimeoutMs).prefault('60s'),
});

/** Which conversations of the live revision are tried on a new one, and what they go on with. */
export interface ConversationTerms {
  /** How many, the newest first. */
  newest: number;
  /** What an idle conversation goes on with, a message or the graph's input; absent: its last message of a person again. */
  message?: string | Record<string, unknown>;
  /** What an interrupt of no known kind is resumed with; absent: it is not resumed. */
  resume?: { value: unknown };
  /** Bound of one run, in ms. */
  timeoutMs: number;
}

/** A number alone says how many. */
export const writtenConversations = z
  .union([z.int().min(1).max(maxConversations), written])
  .transform((read): ConversationTerms => {
    if (typeof read === 'number') return { newest: read, timeoutMs: 60_000 };
    const { newest, message, resume, timeout } = read;
    return {
      newest,
      ...(message === undefined ? {} : { message }),
      ...(resume === undefined ? {} : { resume: { value: resume } }),
      timeoutMs: timeout,
    };
  });
