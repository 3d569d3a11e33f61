import type { Revision } from '../../contract/control/revision.ts';
import type { DeployRun } from './deploy-run.ts';
import type { BuiltFrom } from './outcome-types.ts';

/** What a revision says of its build. */
export type BuildFacts = Pick<Revision, 'source_revision_config' | 'build_digest'>;

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
  const build: BuildFacts | undefined =
    builds.get(revisionId) ??
    (formerLive?.id === revisionId ? formerLive.revision : undefined) ??
    (deployment?.latest_revision_id === revisionId ? deployment : undefined);
  const { repo_commit_sha, source_tarball_digest, image_uri } = build?.source_revision_config ?? {};
  return {
    revisionId,
    buildDigest: build?.build_digest,
    commit: repo_commit_sha ?? undefined,
    sourceDigest: source_tarball_digest ?? undefined,
    image: image_uri ?? undefined,
  };
}
