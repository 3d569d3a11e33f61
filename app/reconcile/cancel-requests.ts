import type { AppContext } from '../context.ts';
import type { Intent } from './intent.ts';
import { withDecisionOutcome } from './outcomes.ts';
import { saveIntents } from './reconcile-context.ts';
import { withLease } from './with-lease.ts';

const cancellable: readonly Intent['state'][] = ['requested', 'waiting', 'paused', 'measuring'];

/** Whether nothing was sent for an intent, nor will the service act by itself. Our own rollbacks go on. */
export const isCancellable = ({ state, cause }: Pick<Intent, 'state' | 'cause'>): boolean =>
  cancellable.includes(state) && cause.kind !== 'failure';

/** Ends those of these intents for which nothing was sent by then. @throws DeploymentBusy */
export async function cancelRequests(
  context: AppContext,
  deploymentId: string,
  ids: readonly string[],
  by: string,
): Promise<void> {
  const signal = new AbortController().signal;
  await withLease(context, deploymentId, async (lease) => {
    const open = await context.store.openIntents(deploymentId);
    const now = context.clock.now();
    const cancelled = open
      .filter((intent) => ids.includes(intent.id) && isCancellable(intent))
      .map((intent) => withDecisionOutcome(intent, 'skipped', { kind: 'skip', code: 'cancelled', by }, now));
    if (cancelled.length > 0) await saveIntents({ context, lease, signal }, cancelled);
  });
}
