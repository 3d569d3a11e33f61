import type { Ended, Intent } from '../reconcile/intent.ts';
import { cancelRequests, isCancellable } from '../reconcile/cancel-requests.ts';
import { refused, type CommandOutcome } from './outcomes.ts';
import { decideOnce, type Performance } from './performance.ts';

/** Ends what waits or was not sent when the command is taken; what is requested after it goes on. */
export async function cancel(performance: Performance): Promise<CommandOutcome> {
  const { stored, candidate, context } = performance;
  const { deploymentId, terms } = candidate.target;
  const deployment = terms.deploymentName;
  const decided = await decideOnce(performance, 'cancel', async () => {
    const open = await context.store.openIntents(deploymentId);
    const intents = open.filter(isCancellable).map(({ id }) => id);
    if (intents.length > 0) return { ok: true, action: { kind: 'cancel', deploymentId, intents } };
    const [late] = open;
    if (late) return { ok: false, outcome: refused({ code: 'too-late', deployment, commit: late.commit }) };
    return { ok: false, outcome: refused({ code: 'nothing-to-cancel', deployment }) };
  });
  if (!decided.ok) return decided.outcome;
  const { intents } = decided.action;
  await cancelRequests(context, deploymentId, intents, stored.by);
  const ends = await Promise.all(intents.map((id) => context.store.intent(id)));
  const commits = [...new Set(ends.flatMap((intent) => (intent && isCancelled(intent) ? [intent.commit] : [])))];
  const late = ends.find((intent) => intent && !isCancelled(intent));
  if (commits.length === 0) return refused({ code: 'too-late', deployment, commit: late?.commit ?? '' });
  return { kind: 'done', code: 'cancelled', deployment, commits };
}

const isCancelled = (intent: Intent): intent is Ended =>
  intent.state === 'ended' &&
  intent.decision?.kind === 'skip' &&
  'code' in intent.decision &&
  intent.decision.code === 'cancelled';
