import * as z from 'zod';

/** One of the known words, or any other string: editors offer the known ones, nothing is refused. */
export type OpenWord<Known extends string> = Known | (string & {});

/**
 * A word of a reply: the document names `known`, and a server may say a newer one, which survives as the string it is.
 * What we send ourselves is checked with `z.enum` instead.
 */
export function openWord<const Known extends string>(known: readonly Known[]): z.ZodType<OpenWord<Known>> {
  return z.custom<OpenWord<Known>>((value) => typeof value === 'string', {
    error: `expected a string such as ${known.map((word) => `"${word}"`).join(', ')}`,
  });
}

/** A JSON object whose members nobody has described. */
export const freeObject = z.record(z.string(), z.unknown());
export type FreeObject = z.infer<typeof freeObject>;
