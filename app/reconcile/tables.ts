import type { ColumnType, GeneratedAlways, Insertable, Kysely, Selectable, Transaction } from 'kysely';
import { storableJson } from '../../src/kit/json-text.ts';
import type { CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import type { CommandAction, StoredCommand } from '../commands/stored-command.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import type { PreviewTables } from '../previews/preview-tables.ts';
import type { Cause } from './deploy-request.ts';
import type { Intent } from './intent.ts';
import type { QueueState } from './queue-state.ts';
import type { Report, ReportContent, DesiredReport } from './report.ts';
import { readIntent, toStored, type StoredIntent } from './stored-intent.ts';
import type { Baseline, DeploymentQueue } from './store.ts';

type Fixed<T> = ColumnType<T, T, never>;
/** JSON is written as text and read as a value. */
type Json<T> = ColumnType<T, string, string>;
/** `bigint` is returned as text. */
type Big = ColumnType<string, number, never>;

/** What of an intent lies in its columns; all the rest is one value. */
type IntentBody = Omit<StoredIntent, 'id' | 'seq' | 'deploymentId' | 'repository' | 'commit' | 'state'>;

/** One row for (deployment, commit, cause): the unique key is what makes a cause one. */
interface IntentsTable {
  id: Fixed<string>;
  seq: GeneratedAlways<string>;
  deployment_id: Fixed<string>;
  repository_id: Big;
  repository: Json<InstallationRepository>;
  commit: Fixed<string>;
  cause_kind: Fixed<Cause['kind']>;
  cause_key: Fixed<string>;
  state: StoredIntent['state'];
  body: Json<IntentBody>;
  /** Read from the body by the database. */
  end_kind: GeneratedAlways<string | null>;
  live_in: GeneratedAlways<string | null>;
  /** ms since the epoch, as all times here */
  ended_at: GeneratedAlways<number | null>;
}

/** One row per deployment: its lease, its notifications, and its hold. */
interface QueuesTable {
  deployment_id: Fixed<string>;
  holder: string | null;
  lease_until: number;
  notified_seq: number;
  processed_seq: number;
  next_at: number | null;
  job_at: number | null;
  held: ColumnType<NonNullable<DeploymentQueue['held']> | null, string | null, string | null>;
  rolled_back_commit: string | null;
  promotes: string | null;
}

/** One row for what GitHub should show under one name on one commit. */
interface ReportsTable {
  id: Fixed<string>;
  kind: Fixed<Report['kind']>;
  repository_id: Big;
  repository: Json<InstallationRepository>;
  head_sha: Fixed<string>;
  name: Fixed<string>;
  wanted: Json<ReportContent>;
  version: number;
  reported_version: number;
  reported_at: number | null;
  github_id: ColumnType<string | null, number | null, number | null>;
  reported: ColumnType<NonNullable<Report['reported']> | null, string | null, string | null>;
}

/** One row for what a test measured of a revision. */
interface BaselinesTable {
  deployment_id: Fixed<string>;
  revision_id: Fixed<string>;
  test_hash: Fixed<string>;
  answers: Json<Baseline['answers']>;
  taken_at: number;
}

/** One row for each comment that gave a command. */
interface CommandsTable {
  repository_id: Big;
  comment_id: Big;
  number: Fixed<number>;
  /** ms since the epoch */
  taken_at: Fixed<number>;
  given: Json<Pick<StoredCommand, 'by' | 'text'>>;
  action: ColumnType<CommandAction | null, string | null, string>;
  outcome: ColumnType<CommandOutcome | null, string | null, string>;
}

/** The work's tables, in the Postgres schema `app`. */
export interface WorkTables extends PreviewTables {
  commands: CommandsTable;
  intents: IntentsTable;
  queues: QueuesTable;
  reports: ReportsTable;
  baselines: BaselinesTable;
}

export type WorkDatabase = Kysely<WorkTables>;
export type WorkTransaction = Transaction<WorkTables>;
export type IntentRow = Selectable<IntentsTable>;
export type QueueRow = Selectable<QueuesTable>;
type ReportRow = Selectable<ReportsTable>;

export const intentOf = (row: IntentRow): Intent =>
  readIntent({
    ...row.body,
    id: row.id,
    seq: Number(row.seq),
    deploymentId: row.deployment_id,
    repository: row.repository,
    commit: row.commit,
    state: row.state,
  });

/** The columns that change with an intent. Its repository does not: only a rename event changes that. */
export function changedColumns(intent: Intent): Pick<Insertable<IntentsTable>, 'state' | 'body'> {
  const { id: _i, seq: _s, deploymentId: _d, repository: _r, commit: _c, state, ...body } = toStored(intent);
  return { state, body: storableJson(body satisfies IntentBody) };
}

export const newIntentRow = (intent: Intent): Insertable<IntentsTable> => ({
  id: intent.id,
  deployment_id: intent.deploymentId,
  repository_id: intent.repository.repositoryId,
  repository: storableJson(intent.repository),
  commit: intent.commit,
  cause_kind: intent.cause.kind,
  cause_key: intent.cause.key,
  ...changedColumns(intent),
});

export const recordOf = (row: QueueRow): QueueState => ({
  holder: row.holder ?? undefined,
  leaseUntil: row.lease_until,
  notifiedSeq: row.notified_seq,
  processedSeq: row.processed_seq,
  nextAt: row.next_at ?? undefined,
  jobAt: row.job_at ?? undefined,
});

export const recordColumns = (
  record: QueueState,
): Omit<QueueRow, 'deployment_id' | 'held' | 'rolled_back_commit' | 'promotes'> => ({
  holder: record.holder ?? null,
  lease_until: record.leaseUntil,
  notified_seq: record.notifiedSeq,
  processed_seq: record.processedSeq,
  next_at: record.nextAt ?? null,
  job_at: record.jobAt ?? null,
});

export const queueOf = (deploymentId: string, row: QueueRow | undefined): DeploymentQueue => ({
  deploymentId,
  ...(row?.held ? { held: row.held } : {}),
  ...(row?.rolled_back_commit ? { rolledBackCommit: row.rolled_back_commit } : {}),
  ...(row?.promotes ? { promotes: row.promotes } : {}),
});

export const newReportRow = (id: string, put: DesiredReport): Insertable<ReportsTable> => ({
  id,
  kind: put.kind,
  repository_id: put.repository.repositoryId,
  repository: storableJson(put.repository),
  head_sha: put.headSha,
  name: put.name,
  wanted: storableJson(put.wanted),
  version: 1,
  reported_version: 0,
});

export const reportOf = (row: ReportRow): Report => ({
  id: row.id,
  kind: row.kind,
  repository: row.repository,
  headSha: row.head_sha,
  name: row.name,
  wanted: row.wanted,
  version: row.version,
  reportedVersion: row.reported_version,
  ...(row.reported_at === null ? {} : { reportedAt: row.reported_at }),
  ...(row.github_id === null ? {} : { githubId: Number(row.github_id) }),
  ...(row.reported === null ? {} : { reported: row.reported }),
});

export const commandOf = (row: Selectable<CommandsTable>): StoredCommand => ({
  repositoryId: Number(row.repository_id),
  commentId: Number(row.comment_id),
  number: row.number,
  ...row.given,
  takenAt: row.taken_at,
  ...(row.action === null ? {} : { action: row.action }),
  ...(row.outcome === null ? {} : { outcome: row.outcome }),
});

export const newBaselineRow = (deploymentId: string, baseline: Baseline): Insertable<BaselinesTable> => ({
  deployment_id: deploymentId,
  revision_id: baseline.revisionId,
  test_hash: baseline.testHash,
  answers: storableJson(baseline.answers),
  taken_at: baseline.takenAt,
});

export const baselineOf = (row: Selectable<BaselinesTable>): Baseline => ({
  revisionId: row.revision_id,
  testHash: row.test_hash,
  answers: row.answers,
  takenAt: row.taken_at,
});
