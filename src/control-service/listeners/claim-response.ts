import type { ClaimStanding, WorkClaim } from '../../contract/control/listener-work.ts';
import type { ClaimedWork } from './work-repository.ts';
import type { ListenerClaimRecord } from '../store/tables.ts';
import type { Tracing } from '../tracing-projects/tracing.ts';

/** The response for a claim: the work and the revision's secrets in plain text. */
export function toClaimResponse({ claim, deployment, revision }: ClaimedWork, tracing: Tracing | undefined): WorkClaim {
  const project = deployment.tracing_project_id;
  return {
    claim_id: claim.id,
    expires_at: claim.expires_at.toISOString(),
    lease_seconds: claim.lease_ms / 1_000,
    deployment: { id: deployment.id, name: deployment.name, namespace: claim.namespace },
    revision: revision
      ? {
          id: revision.id,
          image_uri: revision.source_revision_config.image_uri ?? '',
          secrets: revision.secrets,
          secret_references: revision.secret_references ?? [],
          resource_spec: revision.source_config.resource_spec ?? null,
          deployment_type: revision.source_config.deployment_type ?? null,
          tracing: tracing && project !== null ? { project_id: project, token: tracing.tokenOf(project) } : null,
        }
      : null,
  };
}

/** The claim's expiry and whether the work is still wanted, for its holder. */
export const sendStanding = (claim: ListenerClaimRecord, wanted: boolean): ClaimStanding => ({
  claim_id: claim.id,
  expires_at: claim.expires_at.toISOString(),
  wanted,
});
