import * as z from 'zod';

/** One of the known values, or any other string: editors suggest the known ones, all are accepted. */
export type OpenWord<Known extends string> = Known | (string & {});

/** An enum value of a response, of which a server may send a newer one. Values of requests are checked by `z.enum`. */
export function openWord<const Known extends string>(known: readonly Known[]): z.ZodType<OpenWord<Known>> {
  return z.custom<OpenWord<Known>>((value) => typeof value === 'string', {
    error: `expected a string such as ${known.map((word) => `"${word}"`).join(', ')}`,
  });
}

/** A JSON object with unspecified members. */
export const freeObject = z.record(z.string(), z.unknown());
export type FreeObject = z.infer<typeof freeObject>;

/** The values of a state: an object, or a list of updates. */
export const stateValues = z.union([freeObject, z.array(z.unknown())]);

/**
 * The run configuration of the graph engine, as the public description of the server lists it.
 * `recursion_limit` counts the steps a run may take. Section "Run" leaves these fields open.
 */
export const runConfigRequest = z.looseObject({
  tags: z.array(z.string()).optional(),
  recursion_limit: z.int().min(1).optional(),
  configurable: freeObject.optional(),
});

/** The `config` of a response: empty or null for an unconfigured assistant (section "Assistant", rule 4). */
export const configReply = freeObject.nullish();
