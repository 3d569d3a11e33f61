import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { ControlDatabase, ListenerRecord } from './tables.ts';
import { brokenConstraint } from './violations.ts';

/** A listener to be known. */
export interface NewListener {
  compute_type: string;
  /** The caller's own name of the compute, unique per tenant. */
  compute_id: string;
  k8s_namespaces?: string[];
  version?: string;
}

/** Makes a listener; undefined when the tenant has one of this `compute_id`. */
export async function addListener(
  db: ControlDatabase,
  clock: Clock,
  tenantId: string,
  listener: NewListener,
): Promise<ListenerRecord | undefined> {
  const now = new Date(clock.now());
  const { compute_type, compute_id, k8s_namespaces = [], version = null } = listener;
  try {
    return await db
      .insertInto('listeners')
      .values({
        id: randomUUID(),
        tenant_id: tenantId,
        version,
        compute_type,
        compute_id,
        compute_config: JSON.stringify({ k8s_namespaces }),
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (brokenConstraint(error) === 'listeners_compute') return undefined;
    throw error;
  }
}

/** A tenant's listeners, oldest first. */
export async function listListeners(
  db: ControlDatabase,
  tenantId: string,
  { limit = 20, offset = 0 }: { limit?: number | undefined; offset?: number | undefined },
): Promise<ListenerRecord[]> {
  return db
    .selectFrom('listeners')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
}

/** A tenant's listener. */
export async function findListener(
  db: ControlDatabase,
  tenantId: string,
  id: string,
): Promise<ListenerRecord | undefined> {
  return db
    .selectFrom('listeners')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .executeTakeFirst();
}
