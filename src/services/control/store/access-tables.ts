import type { ColumnType, Generated } from 'kysely';
import type { ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import type { ClaimRule } from '../../../contract/control/trust-policy.ts';

/** JSON is written as text and read as a value. */
export type Json<T> = ColumnType<T, string, string>;
/** Written once. */
export type Fixed<T> = ColumnType<T, T, never>;

export interface TenantsTable {
  id: Fixed<string>;
  name: string;
  created_at: Fixed<Date>;
}

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
  scopes: Generated<ApiKeyScope[]>;
  /** Null where it does not expire. */
  expires_at: Generated<Date | null>;
}

/** The tenants of a key; an organisation's key has several. */
export interface KeyTenantsTable {
  tenant_id: Fixed<string>;
  key_id: Fixed<string>;
}

/** Whose tokens are exchanged for keys. */
export interface TrustPoliciesTable {
  id: Generated<string>;
  tenant_id: Fixed<string>;
  name: Fixed<string>;
  issuer: Fixed<string>;
  audience: Fixed<string>;
  claims: ColumnType<Record<string, ClaimRule>, string, never>;
  scopes: Fixed<ApiKeyScope[]>;
  key_minutes: Fixed<number>;
  created_at: Fixed<Date>;
  last_used_at: Generated<Date | null>;
}

/** Tokens that were exchanged, until they expire: only the SHA-256 of what an issuer signed. */
export interface UsedTokensTable {
  digest: Fixed<Buffer>;
  expires_at: Fixed<Date>;
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

/** Sessions of browsers; only the SHA-256 of a session's token is stored. */
export interface SessionsTable {
  hash: Fixed<Buffer>;
  key_id: Fixed<string>;
  /** The tenant of its requests, one of the key's. */
  tenant_id: string;
  created_at: Fixed<Date>;
  /** Its last request, within some minutes. */
  last_used_at: Date;
}

/** Writes with an idempotency key and their results: never a body, for it holds secrets. */
export interface WriteKeysTable {
  tenant_id: Fixed<string>;
  key: string;
  /** Method and path. */
  request: Fixed<string>;
  digest: Fixed<Buffer>;
  /** False only within the transaction of the write. */
  done: Generated<boolean>;
  /** The written deployment; null for other writes, and once the deployment is deleted. */
  deployment_id: string | null;
  revision_id: string | null;
  /** The response to any other write, as JSON: encrypted, for it may hold a secret. */
  answer: Generated<string | null>;
  created_at: Fixed<Date>;
}
