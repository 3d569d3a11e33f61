import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { Usage } from '../tracing/usage.ts';
import type { RunPlan } from './run-plan.ts';
import type { FinalRunStatus, MultitaskStrategy, Run, RunStatus } from '../../contract/agent/run.ts';

/** A stored run. */
export interface StoredRun {
  run_id: string;
  /** The order of acceptance: an integer. */
  sequence: string;
  thread_id: string;
  assistant_id: string;
  graph_id: string;
  status: RunStatus;
  metadata: FreeObject;
  kwargs: FreeObject;
  multitask_strategy: MultitaskStrategy;
  temporary: boolean;
  detached: boolean;
  attempt: number;
  process_id: string | null;
  cancel_action: 'interrupt' | 'rollback' | null;
  error: { error: string; message: string } | null;
  start_after: Date | null;
  started_at: Date | null;
  ended_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

/** Whether a run has not ended. */
export const isUnfinished = ({ status }: Pick<StoredRun, 'status'>): boolean =>
  status === 'pending' || status === 'running';

/** The end of a run. `values` is its last state, undefined if it reached none. */
export interface RunEnd {
  status: FinalRunStatus;
  error?: { error: string; message: string } | undefined;
  /** JSON in the API's form. */
  values: string | undefined;
  /** The thread's interrupts by task id, as JSON. */
  interrupts: string;
  /** The token usage of its messages; undefined if none reports any. */
  usage?: Usage | undefined;
  /** Whether the state has a next node. */
  unfinishedState: boolean;
}

/** Serializes a run for the API (section "Run", `run_started_at` and the like from the webhook's table). */
export function showRun(run: StoredRun): Run {
  return {
    run_id: run.run_id,
    thread_id: run.thread_id,
    assistant_id: run.assistant_id,
    created_at: run.created_at.toISOString(),
    updated_at: run.updated_at.toISOString(),
    ...(run.started_at === null ? {} : { run_started_at: run.started_at.toISOString() }),
    ...(run.ended_at === null ? {} : { run_ended_at: run.ended_at.toISOString() }),
    status: run.status,
    metadata: run.metadata,
    kwargs: run.kwargs,
    multitask_strategy: run.multitask_strategy,
  };
}

/** Serializes a run that was just accepted and has not started. */
export function showAccepted(plan: RunPlan): Run {
  const accepted = new Date(plan.acceptedAt).toISOString();
  return {
    run_id: plan.runId,
    thread_id: plan.threadId,
    assistant_id: plan.assistantId,
    created_at: accepted,
    updated_at: accepted,
    status: 'pending',
    metadata: plan.metadata,
    kwargs: plan.kwargs,
    multitask_strategy: plan.multitaskStrategy,
  };
}
