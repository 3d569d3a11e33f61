import * as z from 'zod';
import { commit } from './revision-history.ts';

/**
 * The state of a deployment in one word: `no-source` before the first upload, `deploying` while its latest revision is
 * in progress, `failed` if that failed (an earlier one may still serve), else `live` if a revision serves, `deleting`,
 * else `not-deployed`.
 */
export const deploymentStates = ['live', 'deploying', 'failed', 'not-deployed', 'deleting', 'no-source'] as const;
export type DeploymentState = (typeof deploymentStates)[number];

/** The counts in a list of deployments. */
export const activityCounts = ['requests', 'errors', 'runs', 'failed_runs'] as const;
export type ActivityCount = (typeof activityCounts)[number];

/**
 * Counts of a period, one for each step, oldest first. `errors` are requests that the agent answered with a 5xx or not
 * at all; a run counts at its end, and a failed one may have been started by a request that succeeded, or by a cron.
 */
const activity = z.looseObject({
  step_seconds: z.int(),
  requests: z.array(z.int()),
  errors: z.array(z.int()),
  runs: z.array(z.int()),
  failed_runs: z.array(z.int()),
});

/** A deployment in a list. */
export const deploymentSummary = z.looseObject({
  id: z.string(),
  name: z.string(),
  source: z.string(),
  /** One of `deploymentStates`, or a newer value. */
  state: z.string(),
  url: z.string().nullable(),
  latest_revision_id: z.string().nullable(),
  active_revision_id: z.string().nullable(),
  /** The commit that serves. */
  live_commit: commit.nullable(),
  /** The latest change; null if the audit log no longer has any. */
  last_change: z
    .looseObject({ at: z.string(), actor: z.string(), key_name: z.string().nullable(), operation: z.string() })
    .nullable(),
  /** `passed`, `failed` or `unproven`: the latest verdict on the latest revision that has one. */
  verdict: z.string().nullable(),
  /** Of the last hour. */
  activity,
});
export type DeploymentSummary = z.infer<typeof deploymentSummary>;

/** A page of GET /v2/deployment-summaries; `total` counts all that match. */
export const deploymentSummaries = z.looseObject({
  resources: z.array(deploymentSummary),
  offset: z.int(),
  total: z.int(),
});
export type DeploymentSummaries = z.infer<typeof deploymentSummaries>;

export const deploymentSummariesQuery = z.strictObject({
  limit: z.int().min(1).max(1_000).optional(),
  offset: z.int().min(0).optional(),
  name_contains: z.string().optional(),
  state: z.enum(deploymentStates).optional(),
  /** By name, or those with the most of a count in the last hour first. */
  sort: z.enum(['name', ...activityCounts]).optional(),
});
