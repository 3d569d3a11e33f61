import * as z from 'zod';
import { hold } from './hold.ts';
import { pageQuery } from './pages.ts';
import { sourceRevisionConfig } from './source.ts';

/** A revision in a response: `DEPLOYED` marks a finished rollout. It has no deployment id. */
export const revision = z.looseObject({
  id: z.string(),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
  /** One of `revisionStatusClasses`, or a newer value. */
  status: z.string(),
  source: z.string().optional(),
  source_revision_config: sourceRevisionConfig.default({}),
  status_message: z.string().nullish(),
  /** What its build warned of, as sentences: the agent may lack something. An addition of this project's service. */
  build_warnings: z.array(z.string()).optional(),
  /** Only where a hold was requested. */
  hold: hold.optional(),
});
export type Revision = z.infer<typeof revision>;

export const revisionsList = z.looseObject({ resources: z.array(revision), offset: z.int() });
export type RevisionsList = z.infer<typeof revisionsList>;

export const revisionsQuery = pageQuery.extend({
  /** Statuses, separated by commas. */
  status: z.string().optional(),
  /** Whether a listener deploys them, or the service itself. */
  remote_reconciled: z.boolean().optional(),
});
export type RevisionsQuery = z.infer<typeof revisionsQuery>;
