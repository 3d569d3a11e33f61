import { readableSpec } from '../planning/plan-resources.ts';
import type { Deployment, DeploymentPatchRequest } from '../contract/control/deployment.ts';
import type { Revision } from '../contract/control/revision.ts';
import { isNotOffered, type ServiceError } from '../contract/service-error.ts';
import { adviceOnAlsoWrong, alsoWrong } from '../planning/outcome-words.ts';
import { rolloutOf } from '../planning/rollout.ts';
import type { Rollout } from '../planning/rollout-types.ts';
import { adviceOn } from './describe-ending.ts';
import { attempt } from './attempt.ts';
import { resolveMs, write } from './apply-plan.ts';
import { watchRevision } from './watch.ts';
import type { Rollback } from './outcome-types.ts';
import { resolvePatch, resolveRedeploy } from './lost-response.ts';
import { smokeLive } from './smoke.ts';
import type { DeployRun } from './deploy-run.ts';

/**
 * Restores a revision that was live before: by deploying its build again if the service can, else by its image or its
 * upload. The new revision is followed and tested like any other, with the full timeout. An error of the service does
 * not end the run: it is part of the report.
 */
export async function rollBackTo(
  target: Revision,
  deployment: Deployment,
  why: string,
  run: DeployRun,
): Promise<Rollback> {
  run.emit({ kind: 'rolling-back', toRevisionId: target.id, why });
  const tried = await attempt(performRollback(target, deployment, run));
  const rollback = tried.ok ? tried.value : failedRollback(target, tried.error, run);
  run.known.rollback = rollback;
  run.emit({ kind: 'rolled-back', rollback });
  return rollback;
}

async function performRollback(target: Revision, deployment: Deployment, run: DeployRun): Promise<Rollback> {
  const started = await redeploy(target, deployment, run);
  if ('kind' in started) return started;
  const { clock, timeoutMs } = run.request;
  run.known.changed = true;
  run.emit({ kind: 'started', how: 'redeployed', deploymentId: deployment.id, revisionId: started.revisionId });
  const deadline = clock.now() + timeoutMs;
  const record = (rollout: Rollout) => {
    run.known.rollback = unfinishedRollback(target, rollout);
  };
  record(rolloutOf(started.revisionId));
  const rollout = await watchRevision(
    { deploymentId: deployment.id, revisionId: started.revisionId, deadline, record },
    run,
  );
  if (rollout.kind !== 'live') return unfinishedRollback(target, rollout);
  const verdict = await smokeLive(run);
  if (verdict.kind !== 'failed') return { kind: 'done', toRevisionId: target.id, rollout, verdict };
  return {
    kind: 'failed',
    toRevisionId: target.id,
    why: alsoWrong(target.id),
    advice: adviceOnAlsoWrong,
    rollout,
    verdict,
  };
}

/** An unfinished rollback: `known` holds it in case the run is interrupted. */
function unfinishedRollback(target: Revision, rollout: Rollout): Rollback {
  const last = rollout.seen.at(-1)?.status ?? 'not seen yet';
  return {
    kind: 'failed',
    toRevisionId: target.id,
    why: `revision ${rollout.revisionId}, which goes back to ${target.id}, did not become live (${rollout.kind}, ${last})`,
    advice: `Look at revision ${rollout.revisionId} of the deployment: it may still become live.`,
    rollout,
  };
}

type StartedRevision = { revisionId: string };

async function redeploy(target: Revision, before: Deployment, run: DeployRun): Promise<StartedRevision | Rollback> {
  const { control } = run.request;
  const answered = await write(run, (options) => control.redeployRevision(before.id, target.id, options));
  if (!answered.ok && isNotOffered(answered.error)) return restoreSource(target, before, run);
  if (!answered.ok && answered.error.effect === 'none') return failedRollback(target, answered.error, run);
  if (answered.ok) {
    const { latest_revision_id: latest } = run.saw(answered.value);
    // A service may make a new revision of the old build, or put the old one itself into place.
    return { revisionId: latest && latest !== before.latest_revision_id ? latest : target.id };
  }
  run.emit({ kind: 'settling', why: run.redact(answered.error.message) });
  const found = await resolveRedeploy(before, resolveMs, run);
  run.known.writing = found === undefined;
  return found?.revisionId ? { revisionId: found.revisionId } : failedRollback(target, answered.error, run);
}

async function restoreSource(
  target: Revision,
  before: Deployment,
  run: DeployRun,
): Promise<StartedRevision | Rollback> {
  const former = formerSource(target, before);
  if (!former) {
    return {
      kind: 'impossible',
      why: `this service does not deploy an old revision again, and no field selects one commit, so revision ${target.id} cannot be put back`,
      advice: 'Revert the commit and push it: the next deploy builds the head of the branch.',
    };
  }
  const request: DeploymentPatchRequest = { source_revision_config: former.patch, ...formerSettings(run) };
  if (former.isSame && Object.keys(request).length === 1) {
    return {
      kind: 'impossible',
      why: `revision ${target.id} runs the same ${former.what} as the one that is live, so there is nothing to put back`,
      advice:
        former.what === 'image'
          ? 'Push a corrected image under a new tag, and set image-uri to it.'
          : 'Correct the folder and deploy it again.',
    };
  }
  const { control } = run.request;
  const answered = await write(run, (options) => control.patchDeployment(before.id, request, options));
  if (!answered.ok && answered.error.effect === 'none') return failedRollback(target, answered.error, run);
  if (answered.ok) run.saw(answered.value);
  const latest = answered.ok ? answered.value.latest_revision_id : null;
  if (latest && latest !== before.latest_revision_id) return { revisionId: latest };
  const planned = {
    deploymentId: before.id,
    request,
    makesRevision: true,
    formerLatestRevisionId: before.latest_revision_id,
  };
  const found = await resolvePatch(planned, resolveMs, run);
  run.known.writing = !answered.ok && found === undefined;
  if (found?.revisionId) return { revisionId: found.revisionId };
  return answered.ok ? noRevision(target) : failedRollback(target, answered.error, run);
}

/** What a revision was made from, where a field can ask for just that. */
function formerSource(
  { source_revision_config: target }: Revision,
  { source, source_revision_config: now }: Deployment,
) {
  const { image_uri: image, source_tarball_path: path } = target;
  if ((source === 'external_docker' || source === 'internal_docker') && image) {
    return { what: 'image', patch: { image_uri: image }, isSame: now.image_uri === image } as const;
  }
  if (source !== 'internal_source' || !path) return undefined;
  return { what: 'folder', patch: { source_tarball_path: path }, isSame: now.source_tarball_path === path } as const;
}

/** The secrets and resources that this run changed: the old image would otherwise run with the new ones. */
function formerSettings({ known: { plan, formerDeployment } }: DeployRun): DeploymentPatchRequest {
  const isKnown = formerDeployment && formerDeployment.latest_revision_id === formerDeployment.active_revision_id;
  if (plan?.kind !== 'patch' || !isKnown) return {};
  const { spec } = readableSpec(formerDeployment.source_config.resource_spec);
  return {
    ...(plan.request.secrets ? { secrets: formerDeployment.secrets.map(({ name, value }) => ({ name, value })) } : {}),
    ...(plan.request.source_config?.resource_spec && Object.keys(spec).length > 0
      ? { source_config: { resource_spec: spec } }
      : {}),
  };
}

const noRevision = (target: Revision): Rollback => ({
  kind: 'failed',
  toRevisionId: target.id,
  why: `the service took the change back to ${target.id} and made no revision of it`,
  advice: 'Look at the deployment and put the former image back by hand.',
});

function failedRollback(target: Revision, error: ServiceError, run: DeployRun): Rollback {
  const unknown = error.effect === 'unknown' ? '; it is unknown whether it took effect' : '';
  return {
    kind: 'failed',
    toRevisionId: target.id,
    why: `${run.redact(error.message)}${unknown}`,
    advice: unknown ? 'Look at the revisions of the deployment before you run this again.' : adviceOn(error),
  };
}
