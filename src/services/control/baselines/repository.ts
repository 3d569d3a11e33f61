import { sql, type Selectable } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import type { BaselineRequest } from '../../../contract/control/baseline.ts';
import { keepNewest } from '../store/keep-newest.ts';
import type { ControlDatabase, RevisionRecord } from '../store/tables.ts';
import type { BaselinesTable } from '../store/report-tables.ts';

export type BaselineRecord = Selectable<BaselinesTable>;

/** The most baselines of a deployment: the tests of two revisions. Those that were reported first are removed. */
const maxBaselines = 200;

/** What was measured of revisions. */
export const baselineStore = (db: ControlDatabase, clock: Clock) => ({
  /** Stores what a test measured of a revision, in place of what it measured before. Call it in a transaction. */
  async putBaseline(revision: RevisionRecord, testHash: string, { answers }: BaselineRequest): Promise<BaselineRecord> {
    const measured = { answers: JSON.stringify(answers), taken_at: new Date(clock.now()) };
    const stored = await db
      .insertInto('baselines')
      .values({ revision_id: revision.id, deployment_id: revision.deployment_id, test_hash: testHash, ...measured })
      .onConflict((conflict) =>
        conflict.columns(['revision_id', 'test_hash']).doUpdateSet({ ...measured, sequence: sql<string>`default` }),
      )
      .returningAll()
      .executeTakeFirstOrThrow();
    const where = ['deployment_id', revision.deployment_id] as const;
    await keepNewest(db, { table: 'baselines', key: 'sequence', where, order: 'sequence', max: maxBaselines });
    return stored;
  },

  findBaseline: (revisionId: string, testHash: string): Promise<BaselineRecord | undefined> =>
    db
      .selectFrom('baselines')
      .selectAll()
      .where('revision_id', '=', revisionId)
      .where('test_hash', '=', testHash)
      .executeTakeFirst(),
});
