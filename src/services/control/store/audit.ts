import { sql, type Selectable } from 'kysely';
import type { ActorKind, AuditTable } from './access-tables.ts';
import type { AuditQuery } from '../../../contract/control/api-key.ts';
import type { ControlDatabase } from './tables.ts';

export type Actor = { kind: 'key'; keyId: string; keyName: string } | { kind: Exclude<ActorKind, 'key'> };

/** A write in the audit log: who does it, and its operation. */
export interface AuditedOperation {
  by: Actor;
  /** `patch deployment` */
  operation: string;
}

export const theService: Actor = { kind: 'service' };

/** The operation of a reported verdict, which changes nothing of its deployment. */
export const verdictReported = 'report verdict';

/** A change for the audit log; names only, never a value. */
export interface AuditedChange extends AuditedOperation {
  tenantId: string;
  /** The changed objects, by the names of their ids: `{ deployment_id, revision_id }`. */
  subject: Readonly<Record<string, string>>;
  /** The names of the changed fields: `source_config.build_on_push`. */
  fields?: readonly string[];
}

/** Records a change. Call it in the transaction of the change, so that neither exists without the other. */
export async function recordChange(trx: ControlDatabase, now: Date, change: AuditedChange): Promise<void> {
  const { tenantId, by, operation, subject, fields = [] } = change;
  await trx
    .insertInto('audit')
    .values({
      tenant_id: tenantId,
      at: now,
      actor: by.kind,
      key_id: by.kind === 'key' ? by.keyId : null,
      key_name: by.kind === 'key' ? by.keyName : null,
      operation,
      subject: JSON.stringify(subject),
      fields: JSON.stringify(fields),
    })
    .execute();
}

export type ChangeRecord = Omit<Selectable<AuditTable>, 'tenant_id'>;

export type ChangesPage = AuditQuery & { limit: number };

/** A page of a tenant's changes, newest first. */
export async function listChanges(
  db: ControlDatabase,
  tenantId: string,
  { limit, before, operation, key_id, deployment_id }: ChangesPage,
): Promise<ChangeRecord[]> {
  let select = db
    .selectFrom('audit')
    .select(['id', 'at', 'actor', 'key_id', 'key_name', 'operation', 'subject', 'fields'])
    .where('tenant_id', '=', tenantId);
  if (before !== undefined) select = select.where('id', '<', before);
  if (operation !== undefined) select = select.where('operation', '=', operation);
  if (key_id !== undefined) select = select.where('key_id', '=', key_id);
  if (deployment_id !== undefined) {
    select = select.where(sql<string>`subject ->> 'deployment_id'`, '=', deployment_id);
  }
  return select.orderBy('id', 'desc').limit(limit).execute();
}
