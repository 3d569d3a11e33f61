import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../kit/clock.ts';
import { brokenConstraint, brokenReference, inTransaction } from '../store/statements.ts';
import type { ControlDatabase, ListenerRecord } from '../store/tables.ts';
import type { Refusal } from '../validation/refusal.ts';

export interface NewListener {
  compute_type: string;
  /** The caller's name for the compute, unique per tenant. */
  compute_id: string;
  k8s_namespaces?: string[];
  version?: string;
}

export type ListenerChange = Pick<ListenerRecord, 'version' | 'compute_config'>;

/** The outcome of a change of a listener; undefined when there is no such listener. */
export type ListenerChangeEnd =
  | { kind: 'changed'; listener: ListenerRecord }
  /** Deployments are in namespaces that would no longer be allowed; their names, in alphabetical order. */
  | { kind: 'in-use'; names: string[] }
  | { kind: 'refused'; refusal: Refusal }
  | undefined;
/** The outcome of removing a listener; undefined when there is no such listener. */
export type ListenerRemovalEnd =
  | { kind: 'removed' }
  /** Deployments use it; their names, in alphabetical order. */
  | { kind: 'in-use'; names: string[] }
  | undefined;

/** The names of a listener's deployments outside these namespaces. An empty list allows all namespaces. */
async function findDeployedElsewhere(
  trx: ControlDatabase,
  id: string,
  namespaces: readonly string[],
): Promise<string[]> {
  if (namespaces.length === 0) return [];
  const deployed = await trx
    .selectFrom('deployments')
    .leftJoin('listener_claims', 'listener_claims.deployment_id', 'deployments.id')
    .select(['deployments.name', 'deployments.source_config', 'listener_claims.namespace'])
    .where('deployments.listener_id', '=', id)
    .orderBy('deployments.name')
    .execute();
  return deployed
    .filter(({ source_config, namespace }) => {
      const used = source_config.listener_config?.k8s_namespace ?? namespace;
      return used != null && !namespaces.includes(used);
    })
    .map(({ name }) => name);
}

const reportIntervalMs = 60_000;

const ownListener = (db: ControlDatabase, tenantId: string, id: string) =>
  db.selectFrom('listeners').selectAll().where('tenant_id', '=', tenantId).where('id', '=', id);

export const listenerStore = (db: ControlDatabase, clock: Clock) => ({
  /** Creates a listener; undefined when the tenant has one of this `compute_id`. */
  async addListener(tenantId: string, listener: NewListener): Promise<ListenerRecord | undefined> {
    const now = new Date(clock.now());
    const { compute_type, compute_id, k8s_namespaces = [], version = null } = listener;
    try {
      return await inTransaction(db, (trx) =>
        trx
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
          .executeTakeFirstOrThrow(),
      );
    } catch (error) {
      if (brokenConstraint(error) === 'listeners_compute') return undefined;
      throw error;
    }
  },

  /** A tenant's listeners, newest first. */
  async listListeners(
    tenantId: string,
    { limit = 20, offset = 0 }: { limit?: number | undefined; offset?: number | undefined },
  ): Promise<ListenerRecord[]> {
    return db
      .selectFrom('listeners')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute();
  },

  async findListener(tenantId: string, id: string): Promise<ListenerRecord | undefined> {
    return ownListener(db, tenantId, id).executeTakeFirst();
  },

  /** Records that a listener has just requested or reported work. */
  async noteListenerReport({ id, last_report_at }: Pick<ListenerRecord, 'id' | 'last_report_at'>): Promise<void> {
    const now = clock.now();
    const due = new Date(now - reportIntervalMs);
    if (last_report_at !== null && last_report_at > due) return;
    await db
      .updateTable('listeners')
      .set({ last_report_at: new Date(now) })
      .where('id', '=', id)
      .where((where) => where.or([where('last_report_at', 'is', null), where('last_report_at', '<=', due)]))
      .execute();
  },

  /** Changes a listener under a lock on its row: `decide` gets the current state, and its result is written. */
  async changeListener(
    tenantId: string,
    id: string,
    decide: (current: ListenerRecord) => ListenerChange | { refused: Refusal },
  ): Promise<ListenerChangeEnd> {
    return inTransaction(db, async (trx): Promise<ListenerChangeEnd> => {
      const current = await ownListener(trx, tenantId, id).forUpdate().executeTakeFirst();
      if (!current) return undefined;
      const wanted = decide(current);
      if ('refused' in wanted) return { kind: 'refused', refusal: wanted.refused };
      const names = await findDeployedElsewhere(trx, id, wanted.compute_config.k8s_namespaces ?? []);
      if (names.length > 0) return { kind: 'in-use', names };
      const listener = await trx
        .updateTable('listeners')
        .set({
          version: wanted.version,
          compute_config: JSON.stringify(wanted.compute_config),
          updated_at: new Date(clock.now()),
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return { kind: 'changed', listener };
    });
  },

  /** Removes a listener without deployments. The foreign key decides where one is created concurrently. */
  async removeListener(tenantId: string, id: string): Promise<ListenerRemovalEnd> {
    try {
      const removed = await inTransaction(db, (trx) =>
        trx
          .deleteFrom('listeners')
          .where('id', '=', id)
          .where('tenant_id', '=', tenantId)
          .returning('id')
          .executeTakeFirst(),
      );
      return removed && { kind: 'removed' };
    } catch (error) {
      if (brokenReference(error) !== 'deployments_listener') throw error;
      const dependents = await db
        .selectFrom('deployments')
        .select('name')
        .where('listener_id', '=', id)
        .orderBy('name')
        .execute();
      return { kind: 'in-use', names: dependents.map(({ name }) => name) };
    }
  },
});
