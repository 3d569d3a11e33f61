import * as z from 'zod';
import { freeObject } from './open-word.ts';
import { Command } from './run.ts';

/** One update within a step: as if the node `as_node` had returned these values, or this command. */
export const SuperstepUpdate = z.strictObject({
  values: z
    .union([freeObject, z.array(z.unknown())])
    .nullable()
    .optional(),
  command: Command.nullable().optional(),
  as_node: z.string().min(1),
});
export type SuperstepUpdate = z.infer<typeof SuperstepUpdate>;

/** One step of a new thread's history (`POST /threads`): the updates of parallel nodes. */
export const Superstep = z.strictObject({ updates: z.array(SuperstepUpdate).min(1) });
export type Superstep = z.infer<typeof Superstep>;
