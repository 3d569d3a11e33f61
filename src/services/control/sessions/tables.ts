import type { Fixed } from '../store/tables.ts';

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
