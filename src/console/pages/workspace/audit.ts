import * as z from 'zod';
import { isLasting, type ApiKeyReply } from '../../../contract/control/api-key.ts';

const labels: ReadonlyMap<string, string> = new Map([
  ['create deployment', 'Deployment created'],
  ['patch deployment', 'Deployment changed'],
  ['delete deployment', 'Deployment deleted'],
  ['create revision', 'Revision created'],
  ['redeploy revision', 'Revision redeployed'],
  ['interrupt revision', 'Revision interrupted'],
  ['promote revision', 'Revision promoted'],
  ['discard revision', 'Revision discarded'],
  ['report verdict', 'Smoke tests reported'],
  ['build push', 'Push built'],
  ['request upload', 'Upload requested'],
  ['request push token', 'Push token requested'],
  ['create api key', 'API key created'],
  ['revoke api key', 'API key revoked'],
  ['exchange token', 'Token exchanged for a key'],
  ['create trust policy', 'Trust policy created'],
  ['delete trust policy', 'Trust policy deleted'],
  ['create listener', 'Listener created'],
  ['patch listener', 'Listener changed'],
  ['delete listener', 'Listener deleted'],
  ['delete tracing project', 'Tracing project deleted'],
  ['bind integration', 'Integration bound'],
  ['unbind integration', 'Integration unbound'],
]);

/** The changes that the audit log names. */
export const auditedOperations: readonly string[] = [...labels.keys()];

/** A change in words: `Deployment created`. A new one is shown as it is. */
export const operationLabel = (operation: string): string => labels.get(operation) ?? operation;

const actors: ReadonlyMap<string, string> = new Map([
  ['operator', 'The operator of the service'],
  ['service', 'The service'],
]);

/** Who made a change, where that was not a key with a name. */
export const actorLabel = (actor: string): string => actors.get(actor) ?? actor;

/** Which changes are shown. */
export type AuditFilter = Partial<Record<'operation' | 'key_id' | 'deployment_id', string>>;

/** Reads the filter from the query of an address; what the service would refuse is ignored. */
export function auditFilter(query: Readonly<Record<string, string | undefined>>): AuditFilter {
  const { operation, key_id, deployment_id } = query;
  return {
    ...(operation ? { operation } : {}),
    ...(key_id ? { key_id } : {}),
    ...(z.uuid().safeParse(deployment_id).success && deployment_id ? { deployment_id } : {}),
  };
}

/** What was changed, in one line: its name, else its id. */
export function subjectText(subject: Readonly<Record<string, string>>): string {
  const entries = Object.entries(subject);
  const named = entries.find(([field]) => field.endsWith('_name')) ?? entries.find(([field]) => field.endsWith('_id'));
  return named?.[1] ?? '';
}

/**
 * Why a key can't be revoked here; undefined where it can.
 *
 * @param count how many keys the workspace has.
 */
export function whyNotRevocable(key: ApiKeyReply, keys: readonly ApiKeyReply[]): string | undefined {
  if (key.is_installation_key) {
    return 'The key of this installation. Only its operator can revoke it, on the machine of the service.';
  }
  if (key.is_organisation_key) {
    return 'It is valid for other workspaces too. Only the operator can revoke it, on the machine of the service.';
  }
  const isLast = isLasting(key) && !keys.some((one) => one.id !== key.id && isLasting(one));
  return isLast ? 'The only key that can always make others. Make another one first.' : undefined;
}
