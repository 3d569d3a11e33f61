import type { Clock } from '../../../kit/clock.ts';
import type { KeyedWrite } from '../validation/idempotency-key.ts';
import type { ControlDatabase } from './tables.ts';

const keptMs = 7 * 24 * 3_600_000;

/** The earlier use of a key: the same write, which may be undone by now, or another one. */
export type EarlierWrite =
  | { kind: 'repeated'; deploymentId: string; revisionId: string }
  | { kind: 'answered'; answer: string }
  | { kind: 'deleted-since' }
  | { kind: 'key-of-another'; request: string };

/**
 * Claims a key for this transaction. Undefined where it is new: then the write continues, and ends with `noteResult`
 * or `releaseKey`. A concurrent write with the same key waits until this transaction has ended.
 */
export async function takeKey(
  trx: ControlDatabase,
  now: Date,
  tenantId: string,
  { key, request, digest }: KeyedWrite,
): Promise<EarlierWrite | undefined> {
  const row = await trx
    .insertInto('write_keys')
    .values({ tenant_id: tenantId, key, request, digest, deployment_id: null, revision_id: null, created_at: now })
    // An update that changes nothing: only so does one statement insert the row or return the existing one.
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'key']).doUpdateSet((row) => ({ key: row.ref('excluded.key') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  // Every row of another transaction is committed.
  if (!row.done) return undefined;
  if (row.request !== request || !row.digest.equals(digest)) return { kind: 'key-of-another', request: row.request };
  if (row.answer !== null) return { kind: 'answered', answer: row.answer };
  if (row.deployment_id === null || row.revision_id === null) return { kind: 'deleted-since' };
  return { kind: 'repeated', deploymentId: row.deployment_id, revisionId: row.revision_id };
}

/** Records the write's result: the deployment and the latest revision in its response, or the response as JSON. */
export async function noteResult(
  trx: ControlDatabase,
  tenantId: string,
  { key }: KeyedWrite,
  result: { deployment_id: string; revision_id: string } | { answer: string },
): Promise<void> {
  await trx
    .updateTable('write_keys')
    .set({ done: true, ...result })
    .where('tenant_id', '=', tenantId)
    .where('key', '=', key)
    .execute();
}

/** Deletes the key of a refused write: it changed nothing. */
export async function releaseKey(trx: ControlDatabase, tenantId: string, { key }: KeyedWrite): Promise<void> {
  await trx.deleteFrom('write_keys').where('tenant_id', '=', tenantId).where('key', '=', key).execute();
}

/** Removes expired keys. */
export async function deleteOldKeys(db: ControlDatabase, clock: Clock): Promise<void> {
  await db
    .deleteFrom('write_keys')
    .where('created_at', '<', new Date(clock.now() - keptMs))
    .execute();
}
