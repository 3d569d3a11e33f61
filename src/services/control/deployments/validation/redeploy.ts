import type { Source } from '../../../../contract/control/source.ts';
import { accepted, againstRules, type ValidationResult } from '../../validation/refusal.ts';
import { hasEnded } from '../../revisions/states.ts';
import type { RevisionRecord } from '../../store/tables.ts';
import { requestProblems, type RequestedDeployment } from './requested-deployment.ts';

/** A message about the source that a revision waits for; undefined where it can start. */
export function missingSource({
  source,
  source_revision_config,
}: Pick<RevisionRecord, 'source' | 'source_revision_config'>): string | undefined {
  if (source === 'internal_source' && !source_revision_config.source_tarball_path) {
    return 'It waits for the source: ask for an address with POST /v2/deployments/{deployment_id}/upload-url, put the tarball there, and name its object path as source_revision_config.source_tarball_path in a PATCH.';
  }
  if (source === 'internal_docker' && !source_revision_config.image_uri) {
    return 'It waits for an image: push one and name it as source_revision_config.image_uri in a PATCH.';
  }
  return undefined;
}

/** The earlier revision, as far as the rules need it. */
export type EarlierRevision = RequestedDeployment & Pick<RevisionRecord, 'id' | 'status' | 'source' | 'build_folder'>;

const built: readonly Source[] = ['github', 'internal_source'];

/**
 * The deployment after redeploying an earlier revision, or why that is impossible: it takes the build and all that made
 * it. Fields that change in place and those of a build stay as they are.
 */
export function checkRedeploy(
  current: RequestedDeployment,
  earlier: EarlierRevision,
): ValidationResult<RequestedDeployment> {
  if (built.includes(earlier.source) && earlier.build_folder === null) {
    return againstRules([
      hasEnded(earlier.status)
        ? `The revision ${earlier.id} has no build that could be deployed again (it ended ${earlier.status}). Choose one that was live.`
        : `The revision ${earlier.id} has no build yet: it is ${earlier.status}. Wait for its end.`,
    ]);
  }
  if (missingSource(earlier)) {
    return againstRules([
      `The revision ${earlier.id} has no image that could be deployed again. Choose one that was live.`,
    ]);
  }
  const { resource_spec } = earlier.source_config;
  const requested = {
    source_config: { ...current.source_config, resource_spec: resource_spec ?? null },
    source_revision_config: earlier.source_revision_config,
    secrets: earlier.secrets,
    secret_references: earlier.secret_references,
  };
  const problems = requestProblems(requested);
  return problems.length > 0 ? againstRules(problems) : accepted(requested);
}
