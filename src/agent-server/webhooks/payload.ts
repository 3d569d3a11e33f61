import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { WebhookPayload } from '../../contract/agent/webhook.ts';

/** What is told of a run that has ended. */
export interface EndedRun {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  status: string;
  metadata: FreeObject;
  kwargs: FreeObject;
  multitask_strategy: string;
  /** How it was cut off or failed. */
  error: { error: string; message: string } | null;
  /** The state at the latest checkpoint of its thread; null where it has none. */
  values: unknown;
  /** It had no thread that outlives it. */
  stateless: boolean;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  updated_at: Date;
}

/** The statuses of a run that failed; one that was interrupted did not. */
const FAILED = new Set(['error', 'timeout']);

/**
 * The body of a webhook (section "Webhook notification"). A run that was ended before it began says that it began as it
 * ended: the field is always there.
 *
 * @param sentAt milliseconds since the epoch.
 */
export function webhookPayload(run: EndedRun, sentAt: number): WebhookPayload {
  return {
    run_id: run.run_id,
    thread_id: run.thread_id,
    assistant_id: run.assistant_id,
    status: run.status,
    created_at: run.created_at.toISOString(),
    updated_at: run.updated_at.toISOString(),
    run_started_at: (run.started_at ?? run.ended_at ?? run.updated_at).toISOString(),
    ...(run.ended_at === null ? {} : { run_ended_at: run.ended_at.toISOString() }),
    webhook_sent_at: new Date(sentAt).toISOString(),
    metadata: run.metadata,
    kwargs: run.kwargs,
    ...(run.stateless ? {} : { values: run.values ?? {} }),
    multitask_strategy: run.multitask_strategy,
    error: FAILED.has(run.status) ? run.error : null,
  };
}
