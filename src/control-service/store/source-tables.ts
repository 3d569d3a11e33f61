import type { ColumnType } from 'kysely';

type Fixed<T> = ColumnType<T, T, never>;

/** An upload address, and the tarball that was uploaded there. */
export interface UploadsTable {
  /** `uploads/<deployment id>/<random>.tar.gz`; the file of this name below the data folder. */
  object_path: Fixed<string>;
  deployment_id: Fixed<string>;
  /** When the address expires. */
  expires_at: Fixed<Date>;
  /** `sha256:<hex>` of the tarball; null until one was stored. */
  digest: string | null;
  bytes: string | null;
  stored_at: Date | null;
  /** When retention removed its file. */
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

/** The tables of sources. */
export interface SourceTables {
  uploads: UploadsTable;
  watched_branches: WatchedBranchesTable;
}
