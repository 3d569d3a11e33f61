import { settleHold } from '../../src/deploy/machine/decide-hold.ts';
import { findRevision } from '../../src/deploy/machine/steps/read-deployment.ts';
import { outcomeOf } from './carried-out.ts';
import { isSince } from './changed-since.ts';
import { refused, type CommandOutcome } from './outcomes.ts';
import { decideOnce, type Performance } from './performance.ts';

/** How long one call of the service may take with all its repetitions (ms). */
const callMs = 20_000;

/** Promotes the revision that is held when the command is taken. Its tests go on against the live one. */
export async function promote(performance: Performance): Promise<CommandOutcome> {
  const { stored, candidate, writtenAt, context } = performance;
  const { control, clock, store } = context;
  const { deploymentId, terms } = candidate.target;
  const deployment = terms.deploymentName;
  const options = () => ({ deadline: clock.now() + callMs });
  const decided = await decideOnce(performance, 'promote', async () => {
    const { latest_revision_id: latest } = await control.getDeployment(deploymentId, options());
    const revision = latest ? await findRevision(deploymentId, latest, { control, options }) : undefined;
    // One without an end of its hold is not healthy yet.
    if (!revision?.hold?.ends_at || revision.hold.decision !== null)
      return { ok: false, outcome: refused({ code: 'nothing-held', deployment }) };
    if (isSince(writtenAt, revision, undefined))
      return { ok: false, outcome: refused({ code: 'changed-since', deployment, revisionId: revision.id }) };
    return { ok: true, action: { kind: 'promote', deploymentId, deployment, revisionId: revision.id } };
  });
  if (!decided.ok) return decided.outcome;
  const { revisionId } = decided.action;
  const why = `${stored.by} requested it in a comment.`;
  const hold = await settleHold(
    { deploymentId, revisionId, decision: 'promoted', why, control, options },
    () => undefined,
  );
  await store.wake(deploymentId);
  if (hold.kind !== 'promoted') return refused({ code: 'hold-over', deployment, revisionId });
  return outcomeOf(decided.action);
}
