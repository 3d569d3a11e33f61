import type { Selectable } from 'kysely';
import type { FinalRunStatus, Run } from '../../../contract/agent/run.ts';
import type { RunsTable } from '../storage/tables.ts';
import type { Usage } from '../tracing/usage.ts';
import type { RunPlan } from './run-plan.ts';

/** The columns of a run. Named, because a prepared `*` fails for good once a later revision has added a column. */
const runColumns = [
  'run_id',
  'sequence',
  'thread_id',
  'assistant_id',
  'graph_id',
  'status',
  'metadata',
  'kwargs',
  'multitask_strategy',
  'temporary',
  'detached',
  'attempt',
  'process_id',
  'cancel_action',
  'error',
  'start_after',
  'started_at',
  'ended_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof RunsTable)[];

/** The columns of a run for a prepared statement. */
export const storedRun = runColumns.map((column) => `runs.${column}`).join(', ');

export type StoredRun = Pick<Selectable<RunsTable>, (typeof runColumns)[number]>;

export const isUnfinished = ({ status }: { status: string }): boolean => status === 'pending' || status === 'running';

/** The end of a run. `values` is its last state, undefined if it reached none. */
export interface RunEnd {
  status: FinalRunStatus;
  error?: NonNullable<StoredRun['error']> | undefined;
  /** JSON in the API's form. */
  values: string | undefined;
  /** The thread's interrupts by task id, as JSON. */
  interrupts: string;
  /** The token usage of its messages; undefined if none reports any. */
  usage?: Usage | undefined;
  /** Its input, output and steps for the tracing project, as JSON; undefined if they are not exported. */
  trace?: string | undefined;
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
