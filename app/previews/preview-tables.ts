import type { ColumnType, Insertable, Selectable } from 'kysely';
import { storableJson } from '../../src/kit/json-text.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import type { Approval, KnownPreview, Preview, PreviewedPull, PreviewJournal, WantedPreview } from './preview.ts';
import type { PreviewRequest } from './preview-store.ts';

/** JSON is written as text and read as a value. */
type Json<T> = ColumnType<T, string, string>;
/** `bigint` is returned as text. */
type Id = ColumnType<string, number, never>;

/** One row per pull request. */
interface PullsTable {
  repository_id: Id;
  number: ColumnType<number, number, never>;
  repository: Json<InstallationRepository>;
  approval: ColumnType<Approval | null, string | null, string | null>;
  is_unreachable: boolean;
  notified_seq: number;
  processed_seq: number;
  /** ms since the epoch, as all times here */
  next_at: number | null;
}

/** One row per pull request and entry of the deploy file. */
interface PreviewsTable {
  repository_id: Id;
  number: ColumnType<number, number, never>;
  entry: ColumnType<string, string, never>;
  name: string;
  wanted: Json<WantedPreview>;
  version: number;
  /** Counts the runs: only the newest may write. */
  run: number;
  known: Json<KnownPreview>;
  journal: ColumnType<PreviewJournal | null, string | null, string | null>;
}

/** The tables of previews, in the Postgres schema `app`. */
export interface PreviewTables {
  preview_pulls: PullsTable;
  previews: PreviewsTable;
}

export const pullOf = (row: Selectable<PullsTable>): PreviewedPull => ({
  repositoryId: Number(row.repository_id),
  number: row.number,
  repository: row.repository,
  ...(row.approval === null ? {} : { approval: row.approval }),
  isUnreachable: row.is_unreachable,
  notifiedSeq: row.notified_seq,
  processedSeq: row.processed_seq,
  ...(row.next_at === null ? {} : { nextAt: row.next_at }),
});

export const previewOfRow = (row: Selectable<PreviewsTable>): Preview => ({
  repositoryId: Number(row.repository_id),
  number: row.number,
  entry: row.entry,
  name: row.name,
  wanted: row.wanted,
  version: row.version,
  known: row.known,
  ...(row.journal === null ? {} : { journal: row.journal }),
});

export const newPreviewRow = ({ key, name, wanted, known = {} }: PreviewRequest): Insertable<PreviewsTable> => ({
  repository_id: key.repositoryId,
  number: key.number,
  entry: key.entry,
  name,
  wanted: storableJson(wanted),
  version: 1,
  run: 0,
  known: storableJson(known),
});
