import * as z from 'zod';
import { pageQuery } from './pages.ts';
import { secret, secretReference, secretReferenceReply, secretReply } from './secret.ts';
import {
  source,
  sourceConfig,
  sourceConfigRequest,
  sourceRevisionConfig,
  sourceRevisionConfigRequest,
} from './source.ts';

/** The statuses of a deployment (docs/design/contract.md#states). */
export const deploymentStatuses = ['AWAITING_DATABASE', 'READY', 'UNUSED', 'AWAITING_DELETE', 'UNKNOWN'] as const;
export type DeploymentStatus = (typeof deploymentStatuses)[number];

/**
 * The header of a change that scales the agent to zero after so many seconds without a request, or `never`. Without it
 * the deployment keeps what it has.
 */
export const idleAfterHeader = 'Landfall-Idle-After';

/** The bounds of that time, in seconds. */
export const minIdleSeconds = 60;
export const maxIdleSeconds = 90 * 86_400;

/** After how many seconds an agent without a request is scaled to zero. */
export type IdleAfter = number | 'never';

/** The body of create (docs/design/contract.md#creation). Unknown fields are refused. */
export const deploymentCreateRequest = z.strictObject({
  name: z.string().min(1),
  source,
  source_config: sourceConfigRequest,
  source_revision_config: sourceRevisionConfigRequest,
  secrets: z.array(secret),
  secret_references: z.array(secretReference).nullish(),
});
export type DeploymentCreateRequest = z.infer<typeof deploymentCreateRequest>;

/**
 * The body of PATCH. A field that is absent or null stays as it is. `secrets` replaces the whole set, `resource_spec`
 * is replaced whole, `source_config` may hold some fields only.
 */
export const deploymentPatchRequest = z.strictObject({
  revision_source: z.enum(['github', 'internal_docker', 'internal_source']).nullish(),
  source_config: sourceConfigRequest.nullish(),
  source_revision_config: sourceRevisionConfigRequest.nullish(),
  secrets: z.array(secret).nullish(),
  secret_references: z.array(secretReference).nullish(),
});
export type DeploymentPatchRequest = z.infer<typeof deploymentPatchRequest>;

/**
 * A deployment in a response (docs/design/contract.md#deployments). `source_revision_config` is the latest revision's,
 * `active_revision_id` names the one that serves. `secrets` are unmasked.
 */
export const deployment = z.looseObject({
  name: z.string(),
  source: z.string(),
  source_config: sourceConfig,
  source_revision_config: sourceRevisionConfig,
  /** Absent: the service does not say which there are. */
  secrets: z.array(secretReply).nullish(),
  secret_references: z.array(secretReferenceReply).nullish(),
  id: z.string(),
  tenant_id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  /** One of `deploymentStatuses`, or a newer value. */
  status: z.string(),
  /** The reason for a status, for people; our addition. */
  status_message: z.string().nullish(),
  latest_revision_id: z.string().nullable(),
  active_revision_id: z.string().nullable(),
  image_version: z.string().nullish(),
  /** Its tracing project; newer than the specification. */
  tracer_session_id: z.string().nullish(),
  /** The URL of its agent server; newer than the specification, which has `source_config.custom_url`. */
  url: z.string().nullish(),
  /** After how many seconds without a request its agent is scaled to zero; absent for never. Our addition. */
  idle_after_seconds: z.int().optional(),
});
export type Deployment = z.infer<typeof deployment>;

/** A page of deployments: no total; a page shorter than `limit` is the last. */
export const deploymentsList = z.looseObject({ resources: z.array(deployment), offset: z.int() });
export type DeploymentsList = z.infer<typeof deploymentsList>;

export const deploymentsQuery = pageQuery.extend({
  name: z.string().optional(),
  name_contains: z.string().optional(),
  status: z.string().optional(),
  deployment_ids: z.array(z.string()).optional(),
  image_version: z.string().optional(),
  deployment_type: z.string().optional(),
  /** Tags of the public service's, with commas between them. */
  tag_value_ids: z.string().optional(),
  /** Whether a listener deploys them, or the service itself. */
  remote_reconciled: z.boolean().optional(),
});
export type DeploymentsQuery = z.infer<typeof deploymentsQuery>;

/** The URL of a deployment's agent server, or undefined if unknown. */
export function agentAddress(deployed: Pick<Deployment, 'url' | 'source_config'>): string | undefined {
  return deployed.url || deployed.source_config.custom_url || undefined;
}
