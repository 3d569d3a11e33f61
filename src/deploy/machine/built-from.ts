import type { SourceRevisionConfig } from '../../contract/control/source.ts';
import type { DeployRun } from './deploy-run.ts';
import type { BuiltFrom } from './outcome-types.ts';

/**
 * What the revision of a run was built from: of `followed`, else of the one that serves, else of the newest. Nothing is
 * read for it: it is what the run saw.
 */
export function builtFromOf(
  { known: { deployment, formerLive }, builds }: Pick<DeployRun, 'known' | 'builds'>,
  followed: string | undefined,
): BuiltFrom | undefined {
  const revisionId = followed ?? deployment?.active_revision_id ?? deployment?.latest_revision_id;
  if (!revisionId) return undefined;
  const config: SourceRevisionConfig | undefined =
    builds.get(revisionId) ??
    (formerLive?.id === revisionId ? formerLive.revision?.source_revision_config : undefined) ??
    (deployment?.latest_revision_id === revisionId ? deployment.source_revision_config : undefined);
  return {
    revisionId,
    commit: config?.repo_commit_sha ?? undefined,
    sourceDigest: config?.source_tarball_digest ?? undefined,
    image: config?.image_uri ?? undefined,
  };
}
