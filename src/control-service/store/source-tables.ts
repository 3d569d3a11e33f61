import type { ColumnType } from 'kysely';

type Fixed<T> = ColumnType<T, T, never>;

/** An address that a source tarball may be put at, and what was put there. */
export interface UploadsTable {
  /** `uploads/<deployment id>/<random>.tar.gz`; the file of this name below the data folder. */
  object_path: Fixed<string>;
  deployment_id: Fixed<string>;
  /** Until when the address serves. */
  expires_at: Fixed<Date>;
  /** `sha256:<hex>` of the tarball; null until one was stored. */
  digest: string | null;
  bytes: string | null;
  stored_at: Date | null;
  /** When its file was removed for its age. */
  removed_at: Date | null;
  created_at: Fixed<Date>;
}

/** The last observed head of a deployment's branch: all its pushes are processed. */
export interface WatchedBranchesTable {
  deployment_id: Fixed<string>;
  ref: string;
  head: string;
  seen_at: Date;
}

/** The tables about where sources come from. */
export interface SourceTables {
  uploads: UploadsTable;
  watched_branches: WatchedBranchesTable;
}
