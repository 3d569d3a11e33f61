import type { ColumnType } from 'kysely';
import type { FreeObject } from '../../contract/agent/open-word.ts';

/** One item of the store. */
export interface StoreItemsTable {
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
