import type { Deployment, DeploymentCreateRequest } from '../contract/control/deployment.ts';
import type { Revision } from '../contract/control/revision.ts';
import { carriesSource, holdsSettings } from '../planning/matches-patch.ts';
import { newerThan } from '../planning/new-revisions.ts';
import type { Plan } from '../planning/plan-types.ts';
import { attempt } from './attempt.ts';
import { findByName } from './find.ts';
import type { DeployRun } from './deploy-run.ts';

/** What a write is found to have done. Without a revision it changed settings in place. */
export interface Settled {
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
    const seen = await attempt(observation());
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
export function settleCreation(
  { name, source }: DeploymentCreateRequest,
  id: string | undefined,
  ms: number,
  run: DeployRun,
): Promise<Settled | undefined> {
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
 * adopted, even if another client made it: a second PATCH could only make a duplicate.
 */
export function settlePatch(
  planned: Pick<
    Extract<Plan, { kind: 'patch' }>,
    'deploymentId' | 'request' | 'makesRevision' | 'formerLatestRevisionId'
  > & { digest?: string | undefined },
  ms: number,
  run: DeployRun,
): Promise<Settled | undefined> {
  const { deploymentId, request, makesRevision, formerLatestRevisionId, digest } = planned;
  const { control } = run.request;
  return pollUntilFound(ms, run, async () => {
    const deployment = run.saw(await control.getDeployment(deploymentId, run.reading(Infinity)));
    if (!holdsSettings(request, deployment)) return undefined;
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
export function settleRedeploy(before: Deployment, ms: number, run: DeployRun): Promise<Settled | undefined> {
  return pollUntilFound(ms, run, async () => {
    const deployment = run.saw(await run.request.control.getDeployment(before.id, run.reading(Infinity)));
    const latest = deployment.latest_revision_id;
    return latest && latest !== before.latest_revision_id ? { deployment, revisionId: latest } : undefined;
  });
}

/** If another client's revision followed ours, ours is further down the list. */
async function madeAfter(former: string | null, deploymentId: string, run: DeployRun): Promise<readonly Revision[]> {
  const page = await attempt(run.request.control.listRevisions(deploymentId, { limit: 20 }, run.reading(Infinity)));
  return (page.ok && newerThan(former, page.value.resources)) || [];
}
