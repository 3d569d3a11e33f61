import { readableSpec } from '../rules/plan-resources.ts';
import type { Deployment, DeploymentPatchRequest } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { knownSecrets } from '../../contract/control/secret.ts';
import { entriesOf, type ReadPage } from '../../contract/control/pages.ts';
import { isNotOffered, type ServiceError } from '../../contract/service-error.ts';
import { adviceOnAlsoWrong, alsoWrong } from '../words/outcomes.ts';
import { whatFailed } from '../words/verdict-words.ts';
import { decisionWords } from '../words/decision.ts';
import { phaseOf } from '../rules/plan-rebuild.ts';
import { decideRollback, isLiveBefore, noneLiveBefore, nothingLive, rollbackObstacle } from '../rules/rollback.ts';
import type { SoughtChange } from '../rules/find-made.ts';
import { rolloutOf } from '../rules/rollout.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import type { Verdict } from '../rules/verdict-types.ts';
import { adviceOn } from '../words/advice-on-errors.ts';
import { tryCall, type CallResult } from '../smoke/try-call.ts';
import { makeChange, type ChangeResult } from './make-change.ts';
import { watchRevision } from './watch.ts';
import type { Rollback } from './outcome-types.ts';
import { smokeLive } from '../smoke/smoke.ts';
import type { DeployRun } from './deploy-run.ts';
import type { LiveRevision } from './steps/read-deployment.ts';

const whyImpossible = {
  'no-revision': impossible(
    'this run made no revision, so it has none to take back',
    'Roll back to an earlier revision (mode: rollback, or landfall rollback).',
  ),
  'no-former': impossible(
    'no revision was live before, so there is none to go back to',
    'Correct the agent and deploy it again.',
  ),
};

/**
 * Rolls back a revision of this run that failed its smoke tests, to the revision that was live before it; undefined if
 * that was not requested. @param current the deployment, as it was read after the tests.
 */
export async function rollBackFailedRevision(
  broken: string | undefined,
  current: CallResult<Deployment> | undefined,
  run: DeployRun,
): Promise<Rollback | undefined> {
  const { formerLive } = run.known;
  const decision = decideRollback({ onFailure: run.request.onFailure, revisionId: broken, formerLive: formerLive?.id });
  if (decision.kind === 'not-requested') return undefined;
  if (decision.kind === 'impossible') return whyImpossible[decision.because];
  if (!formerLive || !current) return whyImpossible['no-former'];
  if (!current.ok) return failed(formerLive, run.redact(current.error.message), adviceOn(current.error, 'run'));
  const read = await tryCall(newerOnItsWay(current.value, broken, run));
  if (!read.ok) return failed(formerLive, run.redact(read.error.message), adviceOn(read.error, 'run'));
  const obstacle = rollbackObstacle(broken, { active: current.value.active_revision_id, onItsWay: read.value });
  if (obstacle) {
    const why = decisionWords({ kind: 'skip', ...obstacle });
    return impossible(
      why,
      'Wait for that revision, and roll back (mode: rollback, or landfall rollback) if it fails too.',
    );
  }
  const why = `revision ${broken} ${whatFailed(run.known.verdict ?? { tests: [] })}`;
  return rollBackTo(formerLive, current.value, why, run);
}

/** The newest revision, if it is another one that may yet serve. */
async function newerOnItsWay(
  { id, latest_revision_id: latest, active_revision_id: active }: Deployment,
  broken: string | undefined,
  run: DeployRun,
): Promise<string | undefined> {
  if (!latest || latest === broken) return undefined;
  const revision = await run.request.control.getRevision(id, latest, run.reading(Infinity));
  return phaseOf(revision, active) === 'on-its-way' ? latest : undefined;
}

/** Carries out a requested rollback: to the newest revision that was live before the current one. */
export async function rollBackToFormer(deployment: Deployment, run: DeployRun): Promise<Rollback> {
  const active = deployment.active_revision_id;
  if (!active) return impossible(nothingLive, 'Deploy it first.');
  const { control } = run.request;
  const former = await tryCall(
    findFormerLive(active, (page) => control.listRevisions(deployment.id, page, run.reading())),
  );
  if (!former.ok) {
    if (!isNotOffered(former.error)) throw former.error;
    return impossible(
      'this service does not list revisions, so the previously live revision is unknown',
      'Deploy the former commit or image instead.',
    );
  }
  if (!former.value) return impossible(noneLiveBefore(active), 'Deploy the former commit or image instead.');
  return rollBackTo({ id: former.value.id, revision: former.value }, deployment, 'as requested', run);
}

function impossible(why: string, advice: string): Rollback {
  return { kind: 'impossible', why, advice };
}

/** The newest of the last `most` revisions that was live before this one. */
export async function findFormerLive(
  active: string,
  read: ReadPage<Revision>,
  most = Infinity,
): Promise<Revision | undefined> {
  const isWanted = isLiveBefore(active);
  for await (const revision of entriesOf(read, most)) if (isWanted(revision)) return revision;
  return undefined;
}

/**
 * Restores a revision that was live before: by deploying its build again if the service can, else by its image or its
 * upload. The new revision is followed and tested like any other, with the full timeout. An error of the service does
 * not end the run: it is part of the report.
 */
async function rollBackTo(
  target: LiveRevision,
  deployment: Deployment,
  why: string,
  run: DeployRun,
): Promise<Rollback> {
  run.emit({ kind: 'rolling-back', toRevisionId: target.id, why });
  const tried = await tryCall(performRollback(target, deployment, run));
  const rollback = tried.ok ? tried.value : failedRollback(target, tried.error, run);
  run.known.rollback = rollback;
  run.emit({ kind: 'rolled-back', rollback });
  return rollback;
}

async function performRollback(target: LiveRevision, deployment: Deployment, run: DeployRun): Promise<Rollback> {
  const revisionId = await restore(target, deployment, run);
  if (typeof revisionId !== 'string') return revisionId;
  const { clock, timeoutMs } = run.request;
  run.emit({ kind: 'started', how: 'redeployed', deploymentId: deployment.id, revisionId });
  const deadline = clock.now() + timeoutMs;
  const record = (rollout: Rollout) => {
    run.known.rollback = unfinishedRollback(target, rollout);
  };
  record(rolloutOf(revisionId));
  const rollout = await watchRevision({ deploymentId: deployment.id, revisionId, deadline, record }, run);
  if (rollout.kind !== 'live') return unfinishedRollback(target, rollout);
  const { verdict } = await smokeLive(run, revisionId);
  if (verdict.kind !== 'failed') return { kind: 'done', toRevisionId: target.id, rollout, verdict };
  return failed(target, alsoWrong(target.id), adviceOnAlsoWrong, { rollout, verdict });
}

const failed = (
  target: LiveRevision,
  why: string,
  advice: string,
  seen: { rollout?: Rollout; verdict?: Verdict } = {},
): Rollback => ({ kind: 'failed', toRevisionId: target.id, why, advice, ...seen });

/** An unfinished rollback: `known` holds it in case the run is interrupted. */
function unfinishedRollback(target: LiveRevision, rollout: Rollout): Rollback {
  const last = rollout.seen.at(-1)?.status ?? 'not seen yet';
  const why = `revision ${rollout.revisionId}, which goes back to ${target.id}, did not become live (${rollout.kind}, ${last})`;
  const advice = `Look at revision ${rollout.revisionId} of the deployment: it may still become live.`;
  return failed(target, why, advice, { rollout });
}

/** Has the service deploy the old build again, or its source. Returns the revision to follow, or why there is none. */
async function restore(target: LiveRevision, before: Deployment, run: DeployRun): Promise<string | Rollback> {
  const change = { kind: 'redeploy', deploymentId: before.id, revisionId: target.id } as const;
  const sought = rebuiltFrom(target);
  const made = await makeChange(run, change, { former: before.latest_revision_id, sought });
  if (made.kind === 'refused' && isNotOffered(made.error)) return restoreSource(target, before, run);
  return restored(made, target, run);
}

function restored(made: ChangeResult, target: LiveRevision, run: DeployRun): string | Rollback {
  if (made.kind === 'made') return made.revisionId;
  if ('error' in made) return failedRollback(target, made.error, run);
  const why = `the service accepted the change to ${target.id} and made no revision of it`;
  return failed(target, why, 'Look at the deployment and put the former image back by hand.');
}

/** How a revision shows that it has the build of this one; nothing does where the service no longer returns it. */
function rebuiltFrom({ revision }: LiveRevision): SoughtChange {
  if (!revision) return {};
  const { repo_commit_sha, repo_ref, image_uri, source_tarball_path } = revision.source_revision_config;
  const request = { source_revision_config: { repo_ref, image_uri, source_tarball_path } };
  return { commit: repo_commit_sha ?? undefined, request };
}

async function restoreSource(target: LiveRevision, before: Deployment, run: DeployRun): Promise<string | Rollback> {
  const former = formerSource(target, before);
  if (!former) {
    return impossible(
      `this service does not deploy an old revision again, and no field selects one commit, so revision ${target.id} cannot be put back`,
      'Revert the commit and push it: the next deploy builds the head of the branch.',
    );
  }
  const { settings, areSecretsLost } = formerSettings(run);
  const request: DeploymentPatchRequest = { source_revision_config: former.patch, ...settings };
  if (former.isSame && Object.keys(request).length === 1) {
    const same = `revision ${target.id} runs the same ${former.what} as the one that is live`;
    return areSecretsLost
      ? impossible(`${same}, and the service hides the values of its secrets`, 'Set the former secrets again.')
      : impossible(`${same}, so there is nothing to put back`, former.advice);
  }
  if (areSecretsLost) run.note({ code: 'secrets-kept' });
  const change = { kind: 'patch', deploymentId: before.id, request } as const;
  return restored(
    await makeChange(run, change, { former: before.latest_revision_id, sought: { request } }),
    target,
    run,
  );
}

/** What a revision was made from, where a field can ask for just that. */
function formerSource({ revision }: LiveRevision, { source, source_revision_config: now }: Deployment) {
  const { image_uri: image, source_tarball_path: path } = revision?.source_revision_config ?? {};
  if ((source === 'external_docker' || source === 'internal_docker') && image) {
    const advice = 'Push a corrected image under a new tag, and set image-uri to it.';
    return { what: 'image', patch: { image_uri: image }, isSame: now.image_uri === image, advice };
  }
  if (source !== 'internal_source' || !path) return undefined;
  const advice = 'Correct the folder and deploy it again.';
  return { what: 'folder', patch: { source_tarball_path: path }, isSame: now.source_tarball_path === path, advice };
}

/**
 * The secrets and resources that this run changed: the old image would otherwise run with the new ones. The service may
 * hide the values of the former secrets.
 */
function formerSettings({ known: { plan, formerDeployment } }: DeployRun): {
  settings: DeploymentPatchRequest;
  areSecretsLost: boolean;
} {
  const isKnown = formerDeployment && formerDeployment.latest_revision_id === formerDeployment.active_revision_id;
  if (plan?.kind !== 'patch' || !isKnown) return { settings: {}, areSecretsLost: false };
  const { spec } = readableSpec(formerDeployment.source_config.resource_spec);
  const secrets = plan.request.secrets ? knownSecrets(formerDeployment.secrets) : undefined;
  return {
    settings: {
      ...(secrets ? { secrets } : {}),
      ...(plan.request.source_config?.resource_spec && Object.keys(spec).length > 0
        ? { source_config: { resource_spec: spec } }
        : {}),
    },
    areSecretsLost: plan.request.secrets != null && !secrets,
  };
}

function failedRollback(target: LiveRevision, error: ServiceError, run: DeployRun): Rollback {
  const unknown = error.effect === 'unknown' ? '; it is unknown whether it took effect' : '';
  const advice = unknown
    ? 'Look at the revisions of the deployment before you run this again.'
    : adviceOn(error, 'run');
  return failed(target, `${run.redact(error.message)}${unknown}`, advice);
}
