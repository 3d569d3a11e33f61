import * as z from 'zod';
import { sourceRevisionConfig } from './source.ts';

/** Every revision status that is known, and what it means for somebody who waits (control-service.md, States). */
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
/** The status words that are known. */
export type RevisionStatus = keyof typeof revisionStatusClasses;
export type RevisionStatusClass = (typeof revisionStatusClasses)[RevisionStatus];

const classes = new Map<string, RevisionStatusClass>(Object.entries(revisionStatusClasses));

/** The class of a status word; a word that nobody listed is `unknown`: neither live nor failed. */
export const classOfRevisionStatus = (status: string): RevisionStatusClass => classes.get(status) ?? 'unknown';

/** A revision as the service tells it: `DEPLOYED` marks a finished rollout. It carries no deployment id. */
export const revision = z.looseObject({
  id: z.string(),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
  /** One of `revisionStatusClasses`, or a word that is newer than this list. */
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
  /** Status words, with commas between them. */
  status: z.string().optional(),
  /** Those that a listener carries out elsewhere, or those that the service does itself. */
  remote_reconciled: z.boolean().optional(),
});
export type RevisionsQuery = z.infer<typeof revisionsQuery>;
