import { readableSpec } from '../rules/plan-resources.ts';
import type { Deployment, DeploymentPatchRequest } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { knownSecrets } from '../../contract/control/secret.ts';
import { entriesOf, type ReadPage } from '../../contract/control/pages.ts';
import { ifFound, isNotOffered, type ServiceError } from '../../contract/service-error.ts';
import { whatFailed } from '../words/verdict-words.ts';
import { phaseOf } from '../rules/plan-rebuild.ts';
import { decideRollback, isLiveBefore, rollbackObstacle } from '../rules/rollback.ts';
import { carriesSource, type SoughtChange } from '../rules/find-made.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import type { Verdict } from '../rules/verdict-types.ts';
import { tryCall, type CallResult } from '../smoke/try-call.ts';
import { onceKey } from './bind-plan.ts';
import type { DeployIn, Ending, RunRevision } from './deploy-state.ts';
import { findSent, honoursKeys, makeChange, type ChangeResult } from './make-change.ts';
import type { Seen } from './next.ts';
import { watchRevision } from './watch.ts';
import type { NotRestored, Rollback, RollbackFailure } from './outcome-types.ts';
import { smokeLive } from '../smoke/smoke.ts';
import type { DeployRun } from './deploy-run.ts';
import type { LiveRevision } from './steps/read-deployment.ts';
import { rolloutOf } from './state.ts';

type Undone = DeployIn<'restoring'>['undone'];

/**
 * What is restored in place of a revision of this run that failed its smoke tests: what was live before it; or why
 * nothing is; undefined if that was not requested. @param current the deployment, as it was read after the tests.
 */
export async function findRestored(
  own: RunRevision | undefined,
  current: CallResult<Deployment> | undefined,
  run: DeployRun,
): Promise<DeployIn<'restoring'> | Rollback | undefined> {
  const { formerLive } = run.known;
  const broken = own?.revisionId;
  const decision = decideRollback({ onFailure: run.request.onFailure, revisionId: broken, formerLive: formerLive?.id });
  if (decision.kind === 'not-requested') return undefined;
  if (decision.kind === 'impossible') return impossible({ code: decision.because });
  if (!formerLive || !current || !own) return impossible({ code: 'none-before' });
  if (!current.ok) return failedBy(formerLive.id, current.error, run);
  const read = await tryCall(newerOnItsWay(current.value, broken, run));
  if (!read.ok) return failedBy(formerLive.id, read.error, run);
  const obstacle = rollbackObstacle(broken, { active: current.value.active_revision_id, onItsWay: read.value });
  return obstacle ? impossible(obstacle) : restoring(formerLive, own, run);
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

/** What a requested rollback restores: the newest revision that was live before the current one; or why it can't. */
export async function findFormer(deployment: Deployment, run: DeployRun): Promise<DeployIn<'restoring'> | Rollback> {
  const active = deployment.active_revision_id;
  if (!active) return impossible({ code: 'nothing-live' });
  const { control, expected } = run.request;
  const obstacle = expected && changedSince(expected, deployment);
  if (obstacle) return impossible(obstacle);
  const read: ReadPage<Revision> = (page) => control.listRevisions(deployment.id, page, run.reading());
  const former = await ifFound(findFormerLive(active, read).then((revision) => ({ revision })));
  if (!former) return impossible({ code: 'revisions-unlisted' });
  const { revision } = former;
  if (!revision) return impossible({ code: 'none-live-before', active });
  return restoring({ id: revision.id, revision }, { deploymentId: deployment.id, revisionId: active }, run);
}

/** What has come in between since a rollback was decided upon. */
function changedSince(
  { active_revision_id: broken, latest_revision_id: former }: NonNullable<DeployRun['request']['expected']>,
  { active_revision_id: active, latest_revision_id: latest }: Deployment,
): NotRestored | undefined {
  const onItsWay = latest !== former && latest !== null ? latest : undefined;
  return rollbackObstacle(broken ?? undefined, { active, onItsWay });
}

/** The state in which a revision is restored. */
function restoring(
  target: LiveRevision,
  { deploymentId, revisionId: from }: Pick<RunRevision, 'deploymentId' | 'revisionId'>,
  run: DeployRun,
): DeployIn<'restoring'> {
  run.known.target = target;
  const former = run.known.deployment?.latest_revision_id ?? null;
  const key = onceKey(['redeploy', target.id], run);
  return { state: 'restoring', deploymentId, target: target.id, from, former, key, mayBeSent: false };
}

const impossible = (reason: NotRestored): Rollback => ({ kind: 'impossible', reason });

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
 * upload. An error of the service does not end the run: it is part of the report.
 */
export async function restoreFormer(restoring: DeployIn<'restoring'>, run: DeployRun): Promise<Seen['restoring']> {
  const { undone, target: toRevisionId } = restoring;
  const why = undone ? `revision ${undone.own.revisionId} ${whatFailed(undone.result.verdict)}` : 'as requested';
  run.emit({ kind: 'rolling-back', toRevisionId, why });
  const restored = await reported(toRevisionId, run, () => restore(restoring, run));
  if (!('made' in restored)) return rolledBack(restored, undone, run);
  const { deploymentId, revisionId } = restored.made;
  run.emit({ kind: 'started', how: 'redeployed', deploymentId, revisionId });
  return { kind: 'returns', revisionId };
}

/** Follows and tests the revision that goes back like any other, with the full timeout. */
export async function followRestored(returning: DeployIn<'returning'>, run: DeployRun): Promise<Seen['returning']> {
  const { undone, target, deploymentId, revisionId } = returning;
  const { clock, timeoutMs } = run.request;
  const record = (rollout: Rollout) => {
    run.known.rollback = unfinished(target, rollout);
  };
  record(rolloutOf(revisionId));
  const rollback = await reported(target, run, async () => {
    const deadline = clock.now() + timeoutMs;
    const rollout = await watchRevision({ deploymentId, revisionId, deadline, record }, run);
    if (rollout.kind !== 'live') return unfinished(target, rollout);
    const { verdict } = await smokeLive(run, revisionId);
    if (verdict.kind !== 'failed') return { kind: 'done', toRevisionId: target, rollout, verdict } as const;
    return failed(target, { code: 'also-wrong' }, { rollout, verdict });
  });
  return rolledBack(rollback, undone, run);
}

function rolledBack(rollback: Rollback, undone: Undone, run: DeployRun): { kind: 'ends'; ending: Ending } {
  run.known.rollback = rollback;
  run.emit({ kind: 'rolled-back', rollback });
  return { kind: 'ends', ending: { kind: undone ? 'followed' : 'rollback-done' } };
}

/** What came of it, or the report of a failure of the service. */
async function reported<T>(target: string, run: DeployRun, work: () => Promise<T>): Promise<T | Rollback> {
  const tried = await tryCall(work());
  return tried.ok ? tried.value : failedBy(target, tried.error, run);
}

const failed = (
  toRevisionId: string,
  reason: RollbackFailure,
  seen: { rollout?: Rollout; verdict?: Verdict } = {},
): Rollback => ({ kind: 'failed', toRevisionId, reason, ...seen });

function failedBy(target: string, error: ServiceError, run: DeployRun): Rollback {
  const { kind, status, operation, problems } = error;
  const facts = { kind, status, operation, problems: { length: problems.length } };
  const isUnknown = error.effect === 'unknown';
  return failed(target, { code: 'service-error', text: run.redact(error.message), isUnknown, ...facts });
}

/** `known` holds it in case the run is interrupted. */
const unfinished = (target: string, rollout: Rollout): Rollback => failed(target, { code: 'not-live' }, { rollout });

/** The revision to follow, or why there is none. */
type Restored = { made: { deploymentId: string; revisionId: string } } | Rollback;

/** Has the service deploy the old build again, or its source. */
async function restore(restoring: DeployIn<'restoring'>, run: DeployRun): Promise<Restored> {
  const { target: id, former, key, mayBeSent } = restoring;
  const { target, deployment } = run.known;
  if (!target || !deployment) throw new Error(`nothing is known of revision ${id}`);
  const change = { kind: 'redeploy', deploymentId: deployment.id, revisionId: id } as const;
  const sent = { change, former, sought: rebuiltFrom(target) };
  if (mayBeSent && !(await honoursKeys(run))) {
    const found = await findSent(sent, run);
    const obstacle = found ? undefined : await hindrance(restoring, run);
    if (found) return restored(found, target, run);
    if (obstacle) return impossible(obstacle);
  }
  const made = await makeChange(run, sent, key);
  if (made.kind !== 'refused' || !isNotOffered(made.error)) return restored(made, target, run);
  // A service that deploys no old revision again may have been sent its source.
  const found = mayBeSent ? await findSent(sent, run) : undefined;
  return found ? restored(found, target, run) : restoreSource(target, deployment, run);
}

/** What came in the way of a rollback while no run went on with it. */
async function hindrance(
  { deploymentId, from }: DeployIn<'restoring'>,
  run: DeployRun,
): Promise<NotRestored | undefined> {
  const deployment = run.saw(await run.request.control.getDeployment(deploymentId, run.reading(Infinity)));
  const onItsWay = await newerOnItsWay(deployment, from, run);
  return rollbackObstacle(from, { active: deployment.active_revision_id, onItsWay });
}

function restored(made: ChangeResult, target: LiveRevision, run: DeployRun): Restored {
  if (made.kind === 'made') return { made };
  return 'error' in made ? failedBy(target.id, made.error, run) : failed(target.id, { code: 'none-made' });
}

/** How a revision shows that it has the build of this one; nothing does where the service no longer returns it. */
function rebuiltFrom({ revision }: LiveRevision): SoughtChange {
  if (!revision) return {};
  const { repo_commit_sha, repo_ref, image_uri, source_tarball_path } = revision.source_revision_config;
  const request = { source_revision_config: { repo_ref, image_uri, source_tarball_path } };
  return { commit: repo_commit_sha ?? undefined, request };
}

async function restoreSource(target: LiveRevision, before: Deployment, run: DeployRun): Promise<Restored> {
  const former = formerSource(target, before);
  if (!former) return impossible({ code: 'not-selectable', revisionId: target.id });
  const { settings, areSecretsLost } = formerSettings(run);
  const request: DeploymentPatchRequest = { source_revision_config: former.patch, ...settings };
  if (former.isSame && Object.keys(request).length === 1) {
    const { source } = former;
    return impossible({ code: 'same-source', revisionId: target.id, source, isHidden: areSecretsLost });
  }
  if (areSecretsLost) run.note({ code: 'secrets-kept' });
  const change = { kind: 'patch', deploymentId: before.id, request } as const;
  const trustsHidden = !carriesSource(request, run.known.formerDeployment ?? {});
  const sent = { change, former: before.latest_revision_id, sought: { request, trustsHidden } };
  return restored(await makeChange(run, sent, onceKey(['patch', target.id], run)), target, run);
}

/** What a revision was made from, where a field can ask for just that. */
function formerSource({ revision }: LiveRevision, { source, source_revision_config: now }: Deployment) {
  const { image_uri: image, source_tarball_path: path } = revision?.source_revision_config ?? {};
  if ((source === 'external_docker' || source === 'internal_docker') && image)
    return { source: 'image', patch: { image_uri: image }, isSame: now.image_uri === image } as const;
  if (source !== 'internal_source' || !path) return undefined;
  return { source: 'folder', patch: { source_tarball_path: path }, isSame: now.source_tarball_path === path } as const;
}

/**
 * The secrets and resources that this run changed: the old image would otherwise run with the new ones. The service may
 * hide the values of the former secrets.
 */
function formerSettings({ known: { sent, formerDeployment } }: DeployRun): {
  settings: DeploymentPatchRequest;
  areSecretsLost: boolean;
} {
  const isKnown = formerDeployment && formerDeployment.latest_revision_id === formerDeployment.active_revision_id;
  const request = sent?.change.kind === 'patch' ? sent.change.request : undefined;
  if (!request || !isKnown) return { settings: {}, areSecretsLost: false };
  const { spec } = readableSpec(formerDeployment.source_config.resource_spec);
  const secrets = request.secrets ? knownSecrets(formerDeployment.secrets) : undefined;
  return {
    settings: {
      ...(secrets ? { secrets } : {}),
      ...(request.source_config?.resource_spec && Object.keys(spec).length > 0
        ? { source_config: { resource_spec: spec } }
        : {}),
    },
    areSecretsLost: request.secrets != null && !secrets,
  };
}
