import * as z from 'zod';
import { fromJson } from '../../kit/json-text.ts';

const id = z.string().max(500);
const digests = z.record(id, z.string().max(100));

/**
 * A plan in a file: what a deploy that is bound to it must find again. Fields are kept as digests, and the values of
 * secrets as digests that are keyed with the key of the service, for a plan is handed from job to job.
 */
const savedPlan = z.strictObject({
  type: z.literal('urn:landfall:plan:v1'),
  id: z.uuid(),
  made_at: z.iso.datetime(),
  landfall_version: id,
  service: id,
  /** Which key keyed the digests of secrets. */
  key: z.string().max(100),
  tenant_id: id.nullable(),
  deployment_id: id.nullable(),
  deployment_name: id.nullable(),
  latest_revision_id: id.nullable(),
  active_revision_id: id.nullable(),
  commit: id.nullable(),
  /** What was to be done, for people; `change` is its digest, `settings` that of what does not follow from secrets. */
  plan: z.enum(['create', 'patch', 'none']),
  fields: z.array(id).max(1_000),
  change: z.string().max(100),
  settings: z.string().max(100),
  /** By the fields of the deploy file, and by those of the deployment. */
  file: digests,
  deployment: digests,
  secrets: digests,
});
export type SavedPlan = z.infer<typeof savedPlan>;

/** The plan in a text; undefined where it is none. */
export const readSavedPlan = (text: string): SavedPlan | undefined => savedPlan.safeParse(fromJson(text)).data;
