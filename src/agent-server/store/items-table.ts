import type { ColumnType } from 'kysely';
import type { FreeObject } from '../../contract/agent/open-word.ts';

/** One item of the store. */
export interface StoreItemsTable {
  namespace: string[];
  key: string;
  /** What filters look at: without the characters that `jsonb` can't hold. */
  value: ColumnType<FreeObject, string, string>;
  /** The value as it was given, where `value` lacks some of it. */
  exact: ColumnType<FreeObject | null, string | null, string | null>;
  created_at: Date;
  updated_at: Date;
  /** How long it lives after it was written, or last read; null for ever. */
  ttl_minutes: number | null;
  expires_at: Date | null;
}
