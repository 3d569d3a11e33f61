import { rolloutOf } from '../../src/planning/rollout.ts';
import { sameCommit, shortCommit } from '../../src/planning/commit.ts';
import type { Rollout } from '../../src/planning/rollout-types.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { mayContain } from './contains.ts';
import { isOver } from './deadlines.ts';
import { endOfRollout, ended } from './outcomes.ts';
import type { Intent } from './intent.ts';
import { seenOf } from './observation.ts';
import { keep, continued, reading, requeueAfter, type StepResult, type ReconcileContext } from './reconcile-context.ts';

const lookMs = 5_000;

/**
 * A newer revision superseded the followed one. One of the same commit is followed instead: an Action also requested
 * it. Any other is named in the outcome, with its commit if known.
 */
export async function handleSuperseded(
  work: ReconcileContext,
  intent: Intent,
  rollout: Extract<Rollout, { kind: 'superseded' }>,
): Promise<StepResult> {
  const { control, clock } = work.context;
  const { deploymentId, deadline } = intent;
  const id = rollout.by ?? (await control.getDeployment(deploymentId, reading(work))).latest_revision_id ?? undefined;
  const reported = endOfRollout(intent, id && id !== rollout.revisionId ? { ...rollout, by: id } : rollout);
  const read =
    id && id !== rollout.revisionId ? await attempt(control.getRevision(deploymentId, id, reading(work))) : undefined;
  if (read && !read.ok && read.error.kind !== 'missing') throw read.error;
  const other = read?.ok ? seenOf(read.value, null) : undefined;
  if (other && intent.sending.kind === 'restate' && sameCommit(other.commit, intent.commit)) {
    await keep(work, [{ ...intent, revisionId: other.id, how: 'adopted', rollout: rolloutOf(other.id) }]);
    return continued;
  }
  const now = clock.now();
  const mayReport = other && other.commit === undefined && other.standing === 'on-its-way';
  const isOpen = deadline !== undefined && !isOver(clock, intent.id, deadline, intent.terms.timeoutMs);
  if (mayReport && isOpen) return requeueAfter(work, lookMs);
  if (!other?.commit) {
    await keep(work, [ended(intent, reported, now)]);
    return continued;
  }
  const contains = await mayContain(work, intent.repository, intent.commit, other.commit);
  const reason = `${reported.reason.replace(/\.$/, '')}, which is of commit ${shortCommit(other.commit)}.`;
  await keep(work, [ended(intent, { ...reported, reason, by: { commit: other.commit, contains } }, now)]);
  return continued;
}
