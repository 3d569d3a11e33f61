import type { ColumnType, Generated } from 'kysely';

type Fixed<T> = ColumnType<T, T, never>;

/** A key is kept as the SHA-256 of its whole text only. */
export interface ApiKeysTable {
  id: Fixed<string>;
  hash: Fixed<Buffer>;
  name: Generated<string>;
  /** Whether it is the key of the installation, which is stored in a file and printed at every start. */
  is_kept: Generated<boolean>;
  created_at: Fixed<Date>;
  revoked_at: Date | null;
  /** When it was last let in, within some minutes. */
  last_used_at: Generated<Date | null>;
}

/** Whose deployments a key is good for; an organisation's key has several tenants. */
export interface KeyTenantsTable {
  tenant_id: Fixed<string>;
  key_id: Fixed<string>;
}

/** Who made a change: a key, the operator on the machine, or the service by itself. */
export type ActorKind = 'key' | 'operator' | 'service';

/** What was changed by whom; names only, never a value. */
export interface AuditTable {
  /** Orders the records and is the cursor between pages. */
  id: Generated<string>;
  tenant_id: Fixed<string>;
  at: Fixed<Date>;
  actor: Fixed<ActorKind>;
  key_id: Fixed<string | null>;
  key_name: Fixed<string | null>;
  /** In words: `patch deployment`. */
  operation: Fixed<string>;
  subject: ColumnType<Record<string, string>, string, never>;
  fields: ColumnType<string[], string, never>;
}
