import type { ColumnType, Generated } from 'kysely';
import type { Fixed } from '../store/tables.ts';

/** Keys; only the SHA-256 of a key is stored. */
export interface ApiKeysTable {
  id: Fixed<string>;
  hash: Fixed<Buffer>;
  name: Generated<string>;
  /** Whether it is the key of the installation, which is stored in a file and printed at every start. */
  is_kept: Generated<boolean>;
  created_at: Fixed<Date>;
  revoked_at: Date | null;
  /** Its last use, within some minutes. */
  last_used_at: Generated<Date | null>;
}

/** The tenants of a key; an organisation's key has several. */
export interface KeyTenantsTable {
  tenant_id: Fixed<string>;
  key_id: Fixed<string>;
}

/** The actor of a change: a key, the operator on the machine, or the service itself. */
export type ActorKind = 'key' | 'operator' | 'service';

/** The audit log; names only, never a value. */
export interface AuditTable {
  /** Orders the records and is the cursor between pages. */
  id: Generated<string>;
  tenant_id: Fixed<string>;
  at: Fixed<Date>;
  actor: Fixed<ActorKind>;
  key_id: Fixed<string | null>;
  key_name: Fixed<string | null>;
  /** For example `patch deployment`. */
  operation: Fixed<string>;
  subject: ColumnType<Record<string, string>, string, never>;
  fields: ColumnType<string[], string, never>;
}
