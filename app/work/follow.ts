import { agentAddress, type Deployment } from '../../src/contract/control/deployment.ts';
import { classOfRevisionStatus, type Revision } from '../../src/contract/control/revision.ts';
import { rolloutAfter, rolloutOf, rolloutOutOfTime, type Sight } from '../../src/decide/rollout.ts';
import type { Rollout } from '../../src/decide/rollout-types.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { endOfRollout, ended } from './end-words.ts';
import type { Intent } from './intent.ts';
import { lastLines, redactorOf } from './log-tail.ts';
import { builtAnother, isOfAnother } from './other-commit.ts';
import { tookPlace } from './took-place.ts';
import { keep, moved, reading, restFor, type Came, type Work } from './work.ts';

/** The longest time between two looks, the shortest (ms), and how it grows with the time since the first one. */
const mostMs = 5_000;
const leastMs = 1_000;
const share = 0.25;
/** A check that says nothing new is told that often that the revision is still watched (ms). */
const heartbeatMs = 15_000;

/** Looks once at the revision that is followed, by its id. */
export async function follow(work: Work, intent: Intent): Promise<Came> {
  const { revisionId } = intent;
  if (revisionId === undefined) throw new Error(`intent ${intent.id} is followed without a revision`);
  const before = intent.rollout ?? rolloutOf(revisionId);
  // A revision that lost its place stays so: what came instead is still to be told.
  if (before.kind === 'superseded') return tookPlace(work, intent, before);
  const { sight, deployment } = await sightOf(work, intent, revisionId, before);
  const rollout = rolloutAfter(before, sight);
  const came = await after(work, { ...intent, rollout, ...builtOf(rollout) }, rollout, before, deployment);
  await work.world.step?.('followed-once', intent.id);
  return came;
}

const builtOf = ({ builtCommit }: Rollout): { builtCommit?: string } => (builtCommit ? { builtCommit } : {});

async function after(
  work: Work,
  intent: Intent,
  rollout: Rollout,
  before: Rollout,
  deployment: Deployment | undefined,
): Promise<Came> {
  const now = work.world.clock.now();
  if (isOfAnother(intent, rollout.builtCommit)) return builtAnother(work, intent, rollout.builtCommit);
  switch (rollout.kind) {
    case 'live':
      return live(work, intent, deployment);
    case 'superseded':
      await keep(work, [intent]);
      return moved;
    case 'in-progress':
      break;
    default:
      return over(work, intent, rollout, deployment);
  }
  if (now >= (intent.deadline ?? now)) return over(work, intent, rolloutOutOfTime(rollout), deployment);
  const isNews = rollout.seen.length > before.seen.length || rollout.builtCommit !== before.builtCommit;
  if (isNews || now - intent.updatedAt >= heartbeatMs) await keep(work, [intent]);
  return restFor(work, Math.min(mostMs, Math.max(leastMs, share * (now - startedAt(intent)))));
}

const startedAt = ({ deadline, terms, createdAt }: Intent): number =>
  deadline === undefined ? createdAt : deadline - terms.timeoutMs;

async function live(work: Work, intent: Intent, deployment: Deployment | undefined): Promise<Came> {
  const agentUrl = deployment && agentAddress(deployment);
  const { deadline: _, ...rest } = intent;
  await keep(work, [{ ...rest, state: 'smoking', ...(agentUrl ? { agentUrl } : {}) }]);
  await work.world.step?.('smoke-began', intent.id);
  return moved;
}

async function over(work: Work, intent: Intent, rollout: Rollout, known: Deployment | undefined): Promise<Came> {
  if (rollout.kind === 'live' || rollout.kind === 'in-progress') return moved;
  const { control, clock } = work.world;
  const told = known
    ? { ok: true as const, value: known }
    : await attempt(control.getDeployment(intent.deploymentId, reading(work)));
  const logs = told.ok && rollout.kind === 'failed' ? await lastLines(work, told.value, rollout.revisionId) : [];
  const end = { ...endOfRollout(intent, rollout), ...(logs.length > 0 ? { logs } : {}) };
  await keep(work, [ended({ ...intent, rollout }, end, clock.now())]);
  return moved;
}

/** What one look brings back. The deployment is asked only where a revision has ended or has something to say. */
async function sightOf(
  work: Work,
  intent: Intent,
  revisionId: string,
  before: Rollout,
): Promise<{ sight: Sight; deployment: Deployment | undefined }> {
  const { control, clock } = work.world;
  const revision = await control.getRevision(intent.deploymentId, revisionId, reading(work));
  const known = classOfRevisionStatus(revision.status);
  const isOver = known === 'live' || known === 'superseded';
  const says = !!revision.status_message && before.seen.at(-1)?.status !== revision.status;
  if (!isOver && !says) {
    const { status_message: _, ...quiet } = revision;
    return { sight: { at: clock.now(), revision: quiet }, deployment: undefined };
  }
  const deployment = await control.getDeployment(intent.deploymentId, reading(work));
  const message = revision.status_message ? redactorOf(deployment)(revision.status_message) : revision.status_message;
  const shown: Revision = { ...revision, status_message: message };
  if (!isOver) return { sight: { at: clock.now(), revision: shown }, deployment };
  return {
    sight: { at: clock.now(), revision: shown, deployment: await serving(work, deployment, revisionId) },
    deployment,
  };
}

/** An active revision that is neither this one nor the newest is older or newer than it: its time tells. */
async function serving(
  work: Work,
  { id, active_revision_id: active, latest_revision_id: latest }: Deployment,
  revisionId: string,
): Promise<NonNullable<Sight['deployment']>> {
  const told = { activeRevisionId: active, latestRevisionId: latest };
  if (!active || active === revisionId || active === latest) return told;
  const other = await attempt(work.world.control.getRevision(id, active, reading(work)));
  return other.ok ? { ...told, activeCreatedAt: other.value.created_at } : told;
}
