import * as z from 'zod';

/** The changes that the audit log names. */
export const auditedOperations = [
  'create deployment',
  'patch deployment',
  'delete deployment',
  'create revision',
  'redeploy revision',
  'interrupt revision',
  'promote revision',
  'discard revision',
  'report verdict',
  'build push',
  'request upload',
  'request push token',
  'create api key',
  'revoke api key',
  'create listener',
  'patch listener',
  'delete listener',
  'delete tracing project',
  'bind integration',
  'unbind integration',
] as const;

/** Which changes are shown. */
export interface AuditFilter {
  operation?: string;
  key_id?: string;
  deployment_id?: string;
}

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
