import type { ColumnType, Generated } from 'kysely';
import type * as z from 'zod';
import type { CronPayload } from '../../../contract/agent/cron.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { MultitaskStrategy, runError, RunStatus } from '../../../contract/agent/run.ts';
import type { ThreadStatus, ThreadTtlStrategy } from '../../../contract/agent/thread.ts';

/** A JSON column: read parsed, written as text. `json` keeps the text as sent, `jsonb` is searchable. */
type Json<T> = ColumnType<T, string, string>;
type Time = ColumnType<Date, Date, Date>;
type MaybeTime = ColumnType<Date | null, Date | null | undefined, Date | null>;

/** An assistant with its active version's values. */
export interface AssistantsTable extends AssistantVersionsTable {
  updated_at: Time;
}

/** All versions of assistants; `assistants.version` names the active one. */
export interface AssistantVersionsTable {
  assistant_id: string;
  version: number;
  graph_id: string;
  name: string;
  description: string | null;
  context: Json<FreeObject>;
  config: Json<FreeObject>;
  metadata: Json<FreeObject>;
  created_at: Time;
}

export interface ThreadsTable {
  thread_id: string;
  status: ThreadStatus;
  /** The number of unfinished runs on the thread: the row's lock orders runs. */
  unfinished: Generated<number>;
  /**
   * The thread's status without unfinished runs: as before the current runs, updated by each that ends. Null before the
   * first.
   */
  status_at_rest: ColumnType<ThreadStatus | null, never, never>;
  /** Its graph metadata before the run that was accepted last. */
  graph_before: ColumnType<FreeObject | null, never, never>;
  metadata: Json<FreeObject>;
  config: Json<FreeObject>;
  /** The state after the last run; null before the first. */
  values: ColumnType<unknown, string | null | undefined, string | null>;
  interrupts: Json<FreeObject>;
  created_at: Time;
  updated_at: Time;
  /** When a run or a manual update last changed the state; null before. */
  state_updated_at: MaybeTime;
  /** What happens when the thread expires; null without a time to live of its own. */
  ttl_strategy: ColumnType<ThreadTtlStrategy | null, ThreadTtlStrategy | null | undefined, ThreadTtlStrategy | null>;
  ttl_minutes: ColumnType<number | null, number | null | undefined, number | null>;
  /** When it expires; null also after the expiry was handled, until the thread changes. */
  expires_at: MaybeTime;
  /** When all but its latest state was last pruned. */
  pruned_at: MaybeTime;
}

/** When the configuration file's default time to live took effect: one row, or none without a default. */
export interface ThreadLifetimeTable {
  only_one: Generated<boolean>;
  since: Time;
}

export interface RunsTable {
  run_id: string;
  /** The order in which runs were accepted. */
  sequence: Generated<string>;
  thread_id: string;
  assistant_id: string;
  graph_id: string;
  status: RunStatus;
  metadata: Json<FreeObject>;
  kwargs: Json<FreeObject>;
  multitask_strategy: MultitaskStrategy;
  /** A stateless run without a kept thread: it has no row in `threads`, and is deleted at its end. */
  temporary: boolean;
  /** Whether it continues after its caller disconnects: a background run, or one with `on_disconnect: continue`. */
  detached: boolean;
  attempt: Generated<number>;
  /** The process that has the run; null if none has. */
  process_id: string | null;
  /** Set by another process to end the run. */
  cancel_action: 'interrupt' | 'rollback' | null;
  /** The thread's graph metadata before; null for runs of earlier versions, and if the thread was created for it. */
  graph_before: ColumnType<FreeObject | null, never, never>;
  /** Another process follows its events, so they are stored. */
  watched: Generated<boolean>;
  error: ColumnType<z.infer<typeof runError> | null, string | null | undefined, string | null>;
  start_after: MaybeTime;
  started_at: MaybeTime;
  ended_at: MaybeTime;
  created_at: Time;
  updated_at: Time;
}

/** Ended runs to export to the tracing project. */
export interface TraceOutboxTable {
  sequence: Generated<string>;
  run: ColumnType<unknown, string, never>;
  /** Its input, output and steps; null if written by an earlier version, or dropped. */
  detail: ColumnType<unknown, string | null | undefined, null>;
  /** The size of `detail`; null if written by an earlier version. */
  detail_bytes: number | null;
}

/** The live processes and their leases. */
export interface ProcessesTable {
  process_id: string;
  /** By the database's clock. */
  lease_until: Time;
}

/** Stored events of runs that are resumable, or followed by another process. */
export interface RunEventsTable {
  run_id: string;
  id: string;
  event: string;
  data: string;
  /** Holds the outcome of the run, not an event. */
  at_end: boolean;
  written_at: Time;
}

export interface CronsTable {
  cron_id: string;
  assistant_id: string;
  /** Null if each run gets its own thread. */
  thread_id: string | null;
  schedule: string;
  timezone: string | null;
  end_time: MaybeTime;
  enabled: boolean;
  /** Null if no run is due. The process that advances it writes the run. */
  next_run_date: MaybeTime;
  /** What happens to each run's own thread; null if all runs share one. */
  on_run_completed: 'delete' | 'keep' | null;
  payload: Json<CronPayload>;
  metadata: Json<FreeObject>;
  user_id: string | null;
  created_at: Time;
  /** The last change by a request; runs do not count. */
  updated_at: Time;
}

/** The tables of one deployment's database, beside the checkpointer's. */
export interface Tables {
  assistants: AssistantsTable;
  assistant_versions: AssistantVersionsTable;
  threads: ThreadsTable;
  thread_lifetime: ThreadLifetimeTable;
  runs: RunsTable;
  run_events: RunEventsTable;
  processes: ProcessesTable;
  trace_outbox: TraceOutboxTable;
  crons: CronsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  store_items: StoreItemsTable;
}

interface StoreItemsTable {
  namespace: string[];
  key: string;
  /** The value for filters: without the characters that `jsonb` can't hold. */
  value: ColumnType<FreeObject, string, string>;
  /** The original value, if `value` differs. */
  exact: ColumnType<FreeObject | null, string | null, string | null>;
  created_at: Date;
  updated_at: Date;
  /** The time to live after the last write or read; null for none. */
  ttl_minutes: number | null;
  expires_at: Date | null;
}

/** Webhooks of runs that have ended: written by the statement that ends the run, and read whole (`Deliveries.claim`). */
interface WebhookDeliveriesTable {
  delivery_id: Generated<string>;
  host: string;
  attempts: Generated<number>;
  next_attempt_at: Date;
  /** When the last attempt ended; null before. */
  attempted_at: ColumnType<Date | null, never, Date>;
  last_status: ColumnType<number | null, never, number | null>;
  last_reason: ColumnType<string | null, never, string | null>;
  run_id: string;
}
