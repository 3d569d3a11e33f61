import type { ColumnType, Generated } from 'kysely';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { MultitaskStrategy, RunStatus } from '../../contract/agent/run.ts';
import type { ThreadStatus, ThreadTtlStrategy } from '../../contract/agent/thread.ts';
import type { CronsTable } from '../crons/cron-row.ts';
import type { WebhookDeliveriesTable } from '../webhooks/tables.ts';
import type { StoreItemsTable } from '../store/items-table.ts';

/** A column of JSON: read parsed, written as text. `json` keeps the text as it was sent, `jsonb` can be searched. */
type Json<T> = ColumnType<T, string, string>;
type Time = ColumnType<Date, Date, Date>;
type MaybeTime = ColumnType<Date | null, Date | null | undefined, Date | null>;

/** An assistant with its active version's values. */
export interface AssistantsTable {
  assistant_id: string;
  graph_id: string;
  version: number;
  name: string;
  description: string | null;
  context: Json<FreeObject>;
  config: Json<FreeObject>;
  metadata: Json<FreeObject>;
  created_at: Time;
  updated_at: Time;
}

/** Every version an assistant had; the active one is named by `assistants.version`. */
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
  /** How many runs on the thread have not ended: the row's lock makes it the arbiter of who goes first. */
  unfinished: Generated<number>;
  /** The status that the thread has once none is unfinished: kept from before runs, and by each that ends. Null before the first. */
  status_at_rest: ColumnType<ThreadStatus | null, never, never>;
  /** What it told of its graph before the run that was accepted last. */
  graph_before: ColumnType<FreeObject | null, never, never>;
  metadata: Json<FreeObject>;
  config: Json<FreeObject>;
  /** The state that the last run left; null before the first. */
  values: ColumnType<unknown, string | null | undefined, string | null>;
  interrupts: Json<FreeObject>;
  created_at: Time;
  updated_at: Time;
  /** When a run or a person last left another state; null before. */
  state_updated_at: MaybeTime;
  /** What becomes of the thread when its time is over; null where it has no time of its own. */
  ttl_strategy: ColumnType<ThreadTtlStrategy | null, ThreadTtlStrategy | null | undefined, ThreadTtlStrategy | null>;
  ttl_minutes: ColumnType<number | null, number | null | undefined, number | null>;
  /** When its own time is over; null also once that was seen to, until the thread changes. */
  expires_at: MaybeTime;
  /** When all but its latest state was last removed. */
  pruned_at: MaybeTime;
}

/** Since when threads without a time of their own get the configuration file's: one row, or none where it has none. */
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
  /** A stateless run whose thread is not kept: it has no row in `threads`, and goes when it ends. */
  temporary: boolean;
  /** Whether it goes on when nobody is connected: a background run, or one with `on_disconnect: continue`. */
  detached: boolean;
  attempt: Generated<number>;
  /** The process that has the run in hand; null while nobody has. */
  process_id: string | null;
  /** Somebody asked another process to end the run. */
  cancel_action: 'interrupt' | 'rollback' | null;
  /** What its thread told of its graph before; null for runs of former versions, and where the thread was made for it. */
  graph_before: ColumnType<FreeObject | null, never, never>;
  /** Somebody follows its events in another process, which has them stored. */
  watched: Generated<boolean>;
  error: ColumnType<{ error: string; message: string } | null, string | null | undefined, string | null>;
  start_after: MaybeTime;
  started_at: MaybeTime;
  ended_at: MaybeTime;
  created_at: Time;
  updated_at: Time;
}

/** Runs that have ended and have still to be told to the tracing project. */
export interface TraceOutboxTable {
  sequence: Generated<string>;
  run: ColumnType<unknown, string, never>;
}

/** The processes that live, as far as they have said. */
export interface ProcessesTable {
  process_id: string;
  /** By the database's clock. */
  lease_until: Time;
}

/** Events of runs that can be followed again, or are followed in another process. */
export interface RunEventsTable {
  run_id: string;
  id: string;
  event: string;
  data: string;
  /** Tells how the run is about to end, and is no event of its own. */
  at_end: boolean;
  written_at: Time;
}

/** The tables of one deployment's database; the checkpointer's own lie beside them. */
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
