import { sql } from 'kysely';
import { maxBaselines, type Baseline } from './store.ts';
import { baselineOf, newBaselineRow, type WorkDatabase, type WorkTransaction } from './tables.ts';

/** Stores what tests measured of revisions, and removes the oldest above the limit of the deployment. */
export async function keepBaselines(
  tx: WorkTransaction,
  deploymentId: string,
  baselines: readonly Baseline[],
): Promise<void> {
  if (baselines.length === 0) return;
  for (const baseline of baselines) {
    const row = newBaselineRow(deploymentId, baseline);
    await tx
      .insertInto('baselines')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(['deployment_id', 'revision_id', 'test_hash'])
          .doUpdateSet({ answers: row.answers, taken_at: row.taken_at }),
      )
      .execute();
  }
  await tx
    .deleteFrom('baselines')
    .where('deployment_id', '=', deploymentId)
    .where((of) =>
      of(
        of.refTuple('revision_id', 'test_hash'),
        'in',
        of
          .selectFrom('baselines')
          .select(['revision_id', 'test_hash'])
          .where('deployment_id', '=', deploymentId)
          .orderBy('taken_at', 'desc')
          .orderBy('test_hash')
          .offset(maxBaselines)
          .$asTuple('revision_id', 'test_hash'),
      ),
    )
    .execute();
}

export async function findBaselines(
  db: WorkDatabase,
  deploymentId: string,
  revisionId: string,
  testHashes: readonly string[],
): Promise<Baseline[]> {
  if (testHashes.length === 0) return [];
  const rows = await db
    .selectFrom('baselines')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .where('revision_id', '=', revisionId)
    .where('test_hash', 'in', testHashes)
    .orderBy('test_hash')
    .execute();
  return rows.map(baselineOf);
}

/** Removes what was taken before `before` (ms since the epoch) of revisions without a remaining intent. */
export async function forgetBaselines(tx: WorkTransaction, before: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('baselines')
    .where('taken_at', '<', before)
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom('intents')
            .select('intents.id')
            .whereRef('intents.deployment_id', '=', 'baselines.deployment_id')
            .whereRef(sql`intents.body ->> 'revisionId'`, '=', 'baselines.revision_id'),
        ),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
