import type { Deployment, DeploymentCreateRequest, DeploymentPatchRequest } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { newerThan } from '../rules/new-revisions.ts';
import type { Plan } from '../rules/plan-types.ts';
import { tryCall } from '../smoke/try-call.ts';
import { findByName } from './find-deployments.ts';
import type { DeployRun } from './deploy-run.ts';
import { heldAt, sameField, tarballField } from '../rules/plan-fields.ts';
import { sameResources } from '../rules/plan-resources.ts';
import { compareReferences, compareSecrets } from '../rules/plan-secrets.ts';

/**
 * Whether a revision was made from the source of a PATCH, to resolve a lost response. Any client may have made it.
 * `digest` is that of the uploaded tarball: another client's upload of the same folder has another path.
 */
export function carriesSource(request: DeploymentPatchRequest, revision: Revision, digest?: string): boolean {
  const isUploaded = digest !== undefined && digest === revision.source_revision_config.source_tarball_digest;
  return Object.entries(request.source_revision_config ?? {}).every(([field, requested]) => {
    const path = `source_revision_config.${field}`;
    if (typeof requested !== 'string' || (path === tarballField && isUploaded)) return true;
    return sameField(path, requested, heldAt(revision, path));
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

/** Whether a PATCH requests another source: then a revision of this source shows that it was applied. */
const changesSource = (request: DeploymentPatchRequest, former: Deployment | undefined): boolean =>
  Object.entries(request.source_revision_config ?? {}).some(([field, requested]) => {
    const path = `source_revision_config.${field}`;
    return typeof requested === 'string' && !sameField(path, requested, former && heldAt(former, path));
  });

/** What a write is found to have done. Without a revision it changed settings in place. */
export interface ResolvedWrite {
  deployment: Deployment;
  revisionId: string | undefined;
}

/** Polls for at most `ms` until `observation` returns a result. A failed poll is retried. */
async function pollUntilFound<T>(
  ms: number,
  run: DeployRun,
  observation: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const until = run.request.clock.now() + ms;
  for (;;) {
    const seen = await tryCall(observation());
    if (seen.ok && seen.value !== undefined) return seen.value;
    if (!seen.ok) run.emit({ kind: 'poll-failed', why: run.redact(seen.error.message) });
    if (run.request.clock.now() >= until) return undefined;
    await run.untilNextPoll(until, seen.ok ? 0 : seen.error.retryAfterMs);
  }
}

/**
 * Resolves a creation whose response was lost or lacked its first revision. The name did not exist before, so a
 * deployment of this name and source is the requested one, even if another client created it.
 */
export function resolveCreation(
  { name, source }: DeploymentCreateRequest,
  id: string | undefined,
  ms: number,
  run: DeployRun,
): Promise<ResolvedWrite | undefined> {
  return pollUntilFound(ms, run, async () => {
    const found = id
      ? [run.saw(await run.request.control.getDeployment(id, run.reading(Infinity)))]
      : await findByName(name, run);
    const made = found.find((deployment) => deployment.source === source && deployment.latest_revision_id);
    return made && { deployment: made, revisionId: made.latest_revision_id ?? undefined };
  });
}

/**
 * Resolves a PATCH whose response was lost or reported no new revision. A newer revision with the requested content is
 * adopted, even if another client made it: a second PATCH could only make a duplicate. Secrets that the service hides
 * show nothing: they count as applied if the PATCH was accepted, or if the new revision has another source.
 */
export function resolvePatch(
  planned: Pick<
    Extract<Plan, { kind: 'patch' }>,
    'deploymentId' | 'request' | 'makesRevision' | 'formerLatestRevisionId'
  > & { digest?: string | undefined; isAccepted?: boolean },
  ms: number,
  run: DeployRun,
): Promise<ResolvedWrite | undefined> {
  const { deploymentId, request, makesRevision, formerLatestRevisionId, digest } = planned;
  const { control } = run.request;
  const trustsHidden = planned.isAccepted || changesSource(request, run.known.formerDeployment);
  return pollUntilFound(ms, run, async () => {
    const deployment = run.saw(await control.getDeployment(deploymentId, run.reading(Infinity)));
    if (!holdsSettings(request, deployment, trustsHidden)) return undefined;
    if (!makesRevision) return { deployment, revisionId: undefined };
    const latest = deployment.latest_revision_id;
    if (!latest || latest === formerLatestRevisionId) return undefined;
    const newest = await control.getRevision(deploymentId, latest, run.reading(Infinity));
    const candidates = carriesSource(request, newest, digest)
      ? [newest]
      : await madeAfter(formerLatestRevisionId, deploymentId, run);
    const made = candidates.find((revision) => carriesSource(request, revision, digest));
    return made && { deployment, revisionId: made.id };
  });
}

/** Resolves a redeploy whose response was lost: the newest revision since then. */
export function resolveRedeploy(before: Deployment, ms: number, run: DeployRun): Promise<ResolvedWrite | undefined> {
  return pollUntilFound(ms, run, async () => {
    const deployment = run.saw(await run.request.control.getDeployment(before.id, run.reading(Infinity)));
    const latest = deployment.latest_revision_id;
    return latest && latest !== before.latest_revision_id ? { deployment, revisionId: latest } : undefined;
  });
}

/** If another client's revision followed ours, ours is further down the list. */
async function madeAfter(former: string | null, deploymentId: string, run: DeployRun): Promise<readonly Revision[]> {
  const page = await tryCall(run.request.control.listRevisions(deploymentId, { limit: 20 }, run.reading(Infinity)));
  return (page.ok && newerThan(former, page.value.resources)) || [];
}
