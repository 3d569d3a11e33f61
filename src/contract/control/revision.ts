import * as z from 'zod';
import { sourceRevisionConfig } from './source.ts';

/** Every known revision status, and its meaning for a waiting client (control-service.md, States). */
export const revisionStatusClasses = {
  CREATING: 'in-progress',
  QUEUED: 'in-progress',
  AWAITING_BUILD: 'in-progress',
  BUILDING: 'in-progress',
  AWAITING_DEPLOY: 'in-progress',
  DEPLOYING: 'in-progress',
  DEPLOYED: 'live',
  CREATE_FAILED: 'failed',
  BUILD_FAILED: 'failed',
  DEPLOY_FAILED: 'failed',
  SKIPPED: 'superseded',
  INTERRUPTED: 'interrupted',
  UNKNOWN: 'unknown',
} as const;
/** The known statuses. */
export type RevisionStatus = keyof typeof revisionStatusClasses;
export type RevisionStatusClass = (typeof revisionStatusClasses)[RevisionStatus];

const classes = new Map<string, RevisionStatusClass>(Object.entries(revisionStatusClasses));

/** The class of a status; a new one is `unknown`: neither live nor failed. */
export const classOfRevisionStatus = (status: string): RevisionStatusClass => classes.get(status) ?? 'unknown';

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
});
export type Revision = z.infer<typeof revision>;

/** A page of revisions, newest first. */
export const revisionsList = z.looseObject({ resources: z.array(revision), offset: z.int() });
export type RevisionsList = z.infer<typeof revisionsList>;

/** The query of listing revisions: `limit` 1 to 100. */
export const revisionsQuery = z.strictObject({
  limit: z.int().min(1).max(100).optional(),
  offset: z.int().min(0).optional(),
  /** Statuses, separated by commas. */
  status: z.string().optional(),
  /** Whether a listener deploys them, or the service itself. */
  remote_reconciled: z.boolean().optional(),
});
export type RevisionsQuery = z.infer<typeof revisionsQuery>;
