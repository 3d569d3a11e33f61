import type { Insertable } from 'kysely';
import { storableJson } from '../inbox/storable-json.ts';
import type { Intent } from './intent.ts';
import type { QueueState } from './queue-state.ts';
import type { Report, ReportPut } from './report.ts';
import type { DeploymentQueue } from './store.ts';
import type { IntentBody, IntentRow, IntentsTable, QueueRow, ReportRow, ReportsTable } from './tables.ts';

export const intentOf = (row: IntentRow): Intent => ({
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
  const {
    id: _id,
    seq: _seq,
    deploymentId: _deployment,
    repository: _repository,
    commit: _commit,
    state,
    ...body
  } = intent;
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

export const recordColumns = (record: QueueState): Omit<QueueRow, 'deployment_id' | 'held' | 'rolled_back_commit'> => ({
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
});

export const newReportRow = (id: string, put: ReportPut): Insertable<ReportsTable> => ({
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
