import { accepted } from '../validation/refusal.ts';
import type { Judged } from '../validation/refusal.ts';

/** The facts about a key that decide its revocation. */
interface Key {
  id: string;
  is_kept: boolean;
  tenant_ids: readonly string[];
}

/**
 * Whether a tenant may revoke one of its keys. Not the key of the installation, which every start prints; not an
 * organisation's, which other tenants depend on; and not the last one, without which the tenant could create no other.
 */
export function mayRevoke(key: Key, keys: readonly Key[]): Judged<Key> {
  if (key.is_kept) {
    return standing(
      `The key ${key.id} is the key of this installation: it is stored in the file api-key of the service's data folder, and every start prints it. Only the operator can revoke it, on that machine: landfall local keys revoke ${key.id}.`,
    );
  }
  if (key.tenant_ids.length > 1) {
    return standing(
      `The key ${key.id} is valid for other tenants too. Only the operator can revoke it, on the service's machine: landfall local keys revoke ${key.id}.`,
    );
  }
  if (keys.every(({ id }) => id === key.id)) {
    return standing(
      `The key ${key.id} is the last one of this tenant: without it the tenant could create no other. Create the next one first (POST /v1/api-keys), or have the operator revoke it on the service's machine: landfall local keys revoke ${key.id}.`,
    );
  }
  return accepted(key);
}

const standing = (detail: string): Judged<never> => ({ ok: false, refusal: { status: 409, detail } });
