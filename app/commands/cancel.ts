import { cancelRequests, isCancellable } from '../reconcile/cancel-requests.ts';
import { cancelledOf } from './carried-out.ts';
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
    if (intents.length > 0) return { ok: true, action: { kind: 'cancel', deploymentId, deployment, intents } };
    const [late] = open;
    if (late) return { ok: false, outcome: refused({ code: 'too-late', deployment, commit: late.commit }) };
    return { ok: false, outcome: refused({ code: 'nothing-to-cancel', deployment }) };
  });
  if (!decided.ok) return decided.outcome;
  const { intents } = decided.action;
  await cancelRequests(context, deploymentId, intents, stored.by);
  const [first] = await Promise.all(intents.map((id) => context.store.intent(id)));
  const late = refused({ code: 'too-late', deployment, commit: first?.commit ?? '' });
  return (await cancelledOf(decided.action, context)) ?? late;
}
