import * as z from 'zod';
import { freeObject } from './open-word.ts';

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
