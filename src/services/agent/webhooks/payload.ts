import type { RunError } from '../../../contract/agent/run.ts';
import type { WebhookPayload } from '../../../contract/agent/webhook.ts';
import type { StoredRun } from '../runs/run-row.ts';

export interface WebhookRun extends Omit<
  StoredRun,
  'sequence' | 'graph_id' | 'temporary' | 'detached' | 'attempt' | 'process_id' | 'cancel_action' | 'start_after'
> {
  /** The state at the latest checkpoint of its thread; null if there is none. */
  values: unknown;
  /** Its thread was temporary. */
  stateless: boolean;
}

/** The statuses of a run that failed; one that was interrupted did not. */
const failedStatuses = new Set(['error', 'timeout']);

/** The body of a webhook (section "Webhook notification"). `sentAt`: milliseconds since the epoch. */
export function webhookPayload(run: WebhookRun, sentAt: number): WebhookPayload {
  return {
    run_id: run.run_id,
    thread_id: run.thread_id,
    assistant_id: run.assistant_id,
    status: run.status,
    created_at: run.created_at.toISOString(),
    updated_at: run.updated_at.toISOString(),
    // Always present: a run that was stopped before its start has its end here.
    run_started_at: (run.started_at ?? run.ended_at ?? run.updated_at).toISOString(),
    ...(run.ended_at === null ? {} : { run_ended_at: run.ended_at.toISOString() }),
    webhook_sent_at: new Date(sentAt).toISOString(),
    metadata: run.metadata,
    kwargs: run.kwargs,
    ...(run.stateless ? {} : { values: run.values ?? {} }),
    multitask_strategy: run.multitask_strategy,
    error: failedStatuses.has(run.status) && run.error ? typeAndMessage(run.error) : null,
  };
}

/** A webhook has no other fields of an error. */
const typeAndMessage = ({ error, message }: RunError) => ({ error, message });
