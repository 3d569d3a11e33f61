import type { ApiKeyReply } from '../../../contract/control/api-key.ts';

/**
 * Why a key can't be revoked here; undefined where it can.
 *
 * @param count how many keys the workspace has.
 */
export function whyNotRevocable(key: ApiKeyReply, count: number): string | undefined {
  if (key.is_installation_key) {
    return 'The key of this installation. Only its operator can revoke it, on the machine of the service.';
  }
  if (key.is_organisation_key) {
    return 'It is valid for other workspaces too. Only the operator can revoke it, on the machine of the service.';
  }
  return count === 1 ? 'The only key of this workspace. Make another one first.' : undefined;
}
