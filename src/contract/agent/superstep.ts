import * as z from 'zod';
import { stateValues } from './open-word.ts';
import { commandSchema } from './run.ts';

/** One update within a step: as if the node `as_node` had returned these values, or this command. */
export const superstepUpdate = z.strictObject({
  values: stateValues.nullish(),
  command: commandSchema.nullable().optional(),
  as_node: z.string().min(1),
});

/** One step of a new thread's history (`POST /threads`): the updates of parallel nodes. */
export const superstepSchema = z.strictObject({ updates: z.array(superstepUpdate).min(1) });
export type Superstep = z.infer<typeof superstepSchema>;
