import { randomUUID } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import type { BaselineRequest } from '../../../contract/control/baseline.ts';
import type { VerdictReport } from '../../../contract/control/verdict.ts';
import { keepNewest } from '../store/statements.ts';
import type { ControlDatabase, RevisionRecord } from '../store/tables.ts';
import type { BaselinesTable, VerdictsTable } from '../store/report-tables.ts';

export type VerdictRecord = Selectable<VerdictsTable>;
export type BaselineRecord = Selectable<BaselinesTable>;

/** The most verdicts on a revision. */
const maxVerdicts = 20;
/** The most baselines of a deployment: the tests of two revisions. Those that were reported first are removed. */
const maxBaselines = 200;

/** Verdicts on revisions, and what was measured of these. */
export const smokeTestStore = (db: ControlDatabase, clock: Clock) => ({
  /** Stores a verdict on a revision. Call it in a transaction: older verdicts beyond the limit are removed. */
  async addVerdict(revision: RevisionRecord, report: VerdictReport): Promise<VerdictRecord> {
    const { kind, reporter, details_url = null, tests } = report;
    const added = await db
      .insertInto('verdicts')
      .values({
        id: randomUUID(),
        deployment_id: revision.deployment_id,
        revision_id: revision.id,
        revision_sequence: revision.sequence,
        kind,
        reporter,
        details_url,
        tests: JSON.stringify(tests),
        created_at: new Date(clock.now()),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const where = ['revision_id', revision.id] as const;
    await keepNewest(db, { table: 'verdicts', key: 'id', where, order: 'sequence', max: maxVerdicts });
    return added;
  },

  /** The verdicts on a revision, newest first. */
  verdictsOf: (revisionId: string): Promise<VerdictRecord[]> =>
    db
      .selectFrom('verdicts')
      .selectAll()
      .where('revision_id', '=', revisionId)
      .orderBy('sequence', 'desc')
      .limit(maxVerdicts)
      .execute(),

  /** The latest verdict on each of these revisions that has one. */
  async latestVerdicts(revisionIds: readonly string[]): Promise<VerdictRecord[]> {
    if (revisionIds.length === 0) return [];
    return db
      .selectFrom('verdicts')
      .distinctOn('revision_id')
      .selectAll()
      .where('revision_id', 'in', revisionIds)
      .orderBy('revision_id')
      .orderBy('sequence', 'desc')
      .execute();
  },

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
