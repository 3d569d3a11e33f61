import type { Clock } from '../../clock.ts';
import type { KeyedWrite } from '../rules/idempotency-key.ts';
import type { ControlDatabase } from './tables.ts';

/** How long a key is remembered (ms), and how often the older ones are removed at most. */
const keptMs = 7 * 24 * 3_600_000;
const betweenMs = 3_600_000;

/** What a key was sent with before: the same write, which was carried out, or another one. */
export type EarlierWrite =
  { kind: 'repeated'; deploymentId: string; revisionId: string } | { kind: 'key-of-another'; request: string };

/**
 * Takes a key for this transaction. Undefined where nobody had it: then the write goes on, and ends with `noteWrite`
 * or `releaseKey`. Whoever sends the same key at the same moment waits here until this transaction has ended.
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
    // A row that is there is handed back as it is; only a write that sets nothing does both in one statement.
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'key']).doUpdateSet((row) => ({ key: row.ref('excluded.key') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  // Every row that another transaction left names what came of it.
  if (row.deployment_id === null || row.revision_id === null) return undefined;
  if (row.request !== request || !row.digest.equals(digest)) return { kind: 'key-of-another', request: row.request };
  return { kind: 'repeated', deploymentId: row.deployment_id, revisionId: row.revision_id };
}

/** Notes what the write came to: the deployment, and the revision that its answer tells as the latest. */
export async function noteWrite(
  trx: ControlDatabase,
  tenantId: string,
  { key }: KeyedWrite,
  deploymentId: string,
  revisionId: string,
): Promise<void> {
  await trx
    .updateTable('write_keys')
    .set({ deployment_id: deploymentId, revision_id: revisionId })
    .where('tenant_id', '=', tenantId)
    .where('key', '=', key)
    .execute();
}

/** Forgets a key whose write was refused: nothing came of it. */
export async function releaseKey(trx: ControlDatabase, tenantId: string, { key }: KeyedWrite): Promise<void> {
  await trx.deleteFrom('write_keys').where('tenant_id', '=', tenantId).where('key', '=', key).execute();
}

/** Makes a function that removes the keys that are too old, once in a while and not at every call. */
export function forgetOldKeys(db: ControlDatabase, clock: Clock): () => Promise<void> {
  let next = -Infinity;
  return async () => {
    const now = clock.now();
    if (now < next) return;
    next = now + betweenMs;
    await db
      .deleteFrom('write_keys')
      .where('created_at', '<', new Date(now - keptMs))
      .execute();
  };
}
