import type { Deployment, DeploymentPatchRequest } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { sameCommit } from '../../contract/control/repo-ref.ts';
import { heldAt, sameField, tarballField } from './plan-fields.ts';
import { phaseOf } from './plan-rebuild.ts';
import { sameResources } from './plan-resources.ts';
import { compareReferences, compareSecrets } from './plan-secrets.ts';

/** Of revisions that are listed newest first, those newer than `former`; undefined where that is not listed. */
export function newerThan<Listed extends { id: string }>(
  former: string | null,
  listed: readonly Listed[],
): readonly Listed[] | undefined {
  if (former === null) return listed;
  const end = listed.findIndex(({ id }) => id === former);
  return end === -1 ? undefined : listed.slice(0, end);
}

/** What a request made, as far as it shows. */
export interface SoughtChange {
  /** The commit that is built, where it is known. */
  commit?: string | undefined;
  /** The content; absent: the commit alone counts. */
  request?: DeploymentPatchRequest | undefined;
  /** The digest of the uploaded tarball. */
  digest?: string | undefined;
  /** `false`: it changes settings in place. */
  makesRevision?: boolean;
  /** Secrets that the service hides count as those requested. */
  trustsHidden?: boolean | undefined;
}

/** What became of a request: its revision, or one that does not report its commit yet, or nothing. */
export type FoundChange = { kind: 'made'; revision: Revision } | { kind: 'in-place' | 'may-be' | 'none' };

/**
 * Looks for the effect of a request whose response was lost or lacked it, in what was made since: `newer`, newest
 * first. Any client may have made it. One that still may serve comes before one that has ended.
 */
export function findMade(
  { commit, request, digest, makesRevision = true, trustsHidden }: SoughtChange,
  { deployment, newer }: { deployment: Deployment; newer: readonly Revision[] },
): FoundChange {
  if (request && !holdsSettings(request, deployment, trustsHidden)) return { kind: 'none' };
  if (!makesRevision) return { kind: 'in-place' };
  const seen = newer
    .filter((revision) => !request || carriesSource(request, revision, digest))
    .map((revision) => ({
      revision,
      phase: phaseOf(revision, deployment.active_revision_id),
      commit: revision.source_revision_config.repo_commit_sha,
    }));
  const ours = seen.filter((each) => (commit ? sameCommit(each.commit, commit) : request));
  // It ended before it reported its commit, or the service never reports them: the content shows whose it is.
  const unreported = request && seen.find((each) => !each.commit && each.phase !== 'on-its-way');
  const made = ours.find(({ phase }) => phase !== 'ended') ?? ours[0] ?? unreported;
  if (made) return { kind: 'made', revision: made.revision };
  return { kind: seen.some((each) => !each.commit && each.phase === 'on-its-way') ? 'may-be' : 'none' };
}

/**
 * Whether a revision, or what a deployment has, is of the source of a PATCH, to resolve a lost response. Any client may have made it.
 * `digest` is that of the uploaded tarball: another client's upload of the same folder has another path.
 */
export function carriesSource(
  request: DeploymentPatchRequest,
  made: Partial<Pick<Deployment, 'source_revision_config'>>,
  digest?: string,
): boolean {
  const isUploaded = digest !== undefined && digest === made.source_revision_config?.source_tarball_digest;
  return Object.entries(request.source_revision_config ?? {}).every(([field, requested]) => {
    const path = `source_revision_config.${field}`;
    if (typeof requested !== 'string' || (path === tarballField && isUploaded)) return true;
    return sameField(path, requested, heldAt(made, path));
  });
}

/**
 * Whether a deployment holds everything that a PATCH requested, apart from the source.
 *
 * @param trustsHidden whether secrets that the service hides count as those requested.
 */
export function holdsSettings(request: DeploymentPatchRequest, deployment: Deployment, trustsHidden = false): boolean {
  const { listener_config, resource_spec, ...plain } = request.source_config ?? {};
  const settings: [path: string, requested: unknown][] = [
    ...Object.entries(plain).map(([field, requested]): [string, unknown] => [`source_config.${field}`, requested]),
    ['source_config.listener_config.k8s_namespace', listener_config?.k8s_namespace],
  ];
  return (
    settings.every(
      ([path, requested]) =>
        (typeof requested !== 'string' && typeof requested !== 'boolean') ||
        sameField(path, requested, heldAt(deployment, path)),
    ) &&
    (resource_spec == null || sameResources(resource_spec, deployment.source_config.resource_spec)) &&
    holdsSecrets(request, deployment, trustsHidden) &&
    compareReferences(request.secret_references ?? undefined, deployment.secret_references).length === 0
  );
}

function holdsSecrets({ secrets }: DeploymentPatchRequest, deployment: Deployment, trustsHidden: boolean): boolean {
  const { changes, differs } = compareSecrets(secrets ?? undefined, 'overwrite', deployment.secrets);
  return !differs && (changes.length === 0 || trustsHidden);
}
