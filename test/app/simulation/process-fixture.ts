import * as z from 'zod';

/** The configuration of a child process that runs the App, as JSON in its first argument. */
export const processFixture = z.object({
  databaseUrl: z.string(),
  /** Where the models of GitHub and of the control service answer. */
  line: z.string(),
  webhookSecret: z.string(),
  /** How many times as fast as the wall clock its time passes. */
  faster: z.number(),
  /** Its smoke tests compare with the live revision. */
  compares: z.boolean(),
  /** What the first deployment proves is promoted to the second. */
  promotes: z.boolean(),
  /** Where it kills itself: at the first time that this step is reached; where it promotes, by a promotion. */
  dieAt: z.string().optional(),
});
export type ProcessFixture = z.infer<typeof processFixture>;
