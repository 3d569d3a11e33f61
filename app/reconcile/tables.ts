import type { ColumnType, GeneratedAlways, Kysely, Selectable, Transaction } from 'kysely';
import type { RepositoryAt } from '../context.ts';
import type { Cause, Intent, IntentState } from './intent.ts';
import type { Report, ReportContent } from './report.ts';
import type { DeploymentQueue } from './store.ts';

type Fixed<T> = ColumnType<T, T, never>;
/** JSON is written as text and read as a value. */
type Json<T> = ColumnType<T, string, string>;
/** `bigint` is returned as text. */
type Big = ColumnType<string, number, never>;

/** What of an intent lies in its columns; all the rest is one value. */
export type IntentBody = Omit<Intent, 'id' | 'seq' | 'deploymentId' | 'repository' | 'commit' | 'state'>;

/** One row for (deployment, commit, cause): the unique key is what makes a cause one. */
export interface IntentsTable {
  id: Fixed<string>;
  seq: GeneratedAlways<string>;
  deployment_id: Fixed<string>;
  repository_id: Big;
  repository: Json<RepositoryAt>;
  commit: Fixed<string>;
  cause_kind: Fixed<Cause['kind']>;
  cause_key: Fixed<string>;
  state: IntentState;
  body: Json<IntentBody>;
  /** Read from the body by the database. */
  end_kind: GeneratedAlways<string | null>;
  live_in: GeneratedAlways<string | null>;
  /** ms since the epoch, as all times here */
  ended_at: GeneratedAlways<number | null>;
}

/** One row per deployment: its lease, its notifications, and its hold. */
export interface QueuesTable {
  deployment_id: Fixed<string>;
  holder: string | null;
  lease_until: number;
  notified_seq: number;
  processed_seq: number;
  next_at: number | null;
  job_at: number | null;
  held: ColumnType<NonNullable<DeploymentQueue['held']> | null, string | null, string | null>;
  rolled_back_commit: string | null;
}

/** One row for what GitHub should show under one name on one commit. */
export interface ReportsTable {
  id: Fixed<string>;
  kind: Fixed<Report['kind']>;
  repository_id: Big;
  repository: Json<RepositoryAt>;
  head_sha: Fixed<string>;
  name: Fixed<string>;
  wanted: Json<ReportContent>;
  version: number;
  reported_version: number;
  reported_at: number | null;
  github_id: ColumnType<string | null, number | null, number | null>;
  reported: ColumnType<NonNullable<Report['reported']> | null, string | null, string | null>;
}

/** The work's tables, in the Postgres schema `app`. */
export interface WorkTables {
  intents: IntentsTable;
  queues: QueuesTable;
  reports: ReportsTable;
}

export type WorkDatabase = Kysely<WorkTables>;
export type WorkTransaction = Transaction<WorkTables>;
export type IntentRow = Selectable<IntentsTable>;
export type QueueRow = Selectable<QueuesTable>;
export type ReportRow = Selectable<ReportsTable>;
