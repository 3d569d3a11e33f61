import * as z from 'zod';
import { pageQuery } from './pages.ts';
import { revision } from './revision.ts';
import { verdict } from './verdict.ts';

/** The commit that a revision was built from, as git reports it: untrusted text. */
export const commit = z.looseObject({
  sha: z.string(),
  /** The first line of its message. */
  subject: z.string().nullable(),
  author: z.string().nullable(),
  authored_at: z.string().nullable(),
});
export type Commit = z.infer<typeof commit>;

/** Why a revision exists. */
export const revisionCause = z.looseObject({
  /**
   * `create`, `patch`, `push`, `redeploy` (of the live or latest build), `rollback` (to an earlier build), or
   * `unknown`.
   */
  kind: z.string(),
  /** `key`, `operator`, `service`, or `unknown`. */
  actor: z.string(),
  key_id: z.string().nullable(),
  key_name: z.string().nullable(),
  /** The revision whose build it uses. */
  redeploy_of: z.string().nullable(),
});

/** A status that a revision has had. */
export const revisionStep = z.looseObject({ status: z.string(), message: z.string().nullable(), at: z.string() });

/** A revision with everything that a timeline shows. */
export const historyEntry = z.looseObject({
  revision,
  cause: revisionCause,
  commit: commit.nullable(),
  /** Oldest first. */
  statuses: z.array(revisionStep),
  /**
   * The fields that differ from the previous revision; empty for the first. A secret has its name: `secrets.MODEL_KEY`.
   */
  changed_fields: z.array(z.string()),
  /** The latest verdict on the revision. */
  verdict: verdict.nullable(),
  /** Whether the revision serves now. */
  is_live: z.boolean(),
  /** Whether its build still exists, so that it can be redeployed. */
  can_redeploy: z.boolean(),
});
export type HistoryEntry = z.infer<typeof historyEntry>;

/** A page of GET /v2/deployments/{id}/revision-history, newest first: one shorter than `limit` is the last. */
export const revisionHistory = z.looseObject({ resources: z.array(historyEntry), offset: z.int() });
export type RevisionHistory = z.infer<typeof revisionHistory>;

/** `revision_id` selects a single revision. */
export const revisionHistoryQuery = pageQuery.extend({ revision_id: z.uuid().optional() });
