import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import type { VerdictReport } from '../../../contract/control/verdict.ts';
import { keepNewest } from '../store/keep-newest.ts';
import type { ControlDatabase, RevisionRecord } from '../store/tables.ts';
import type { VerdictsTable } from '../store/report-tables.ts';

export type VerdictRecord = Selectable<VerdictsTable>;

const maxVerdicts = 20;

/** Verdicts on revisions. */
export const verdictStore = (db: ControlDatabase, clock: Clock) => ({
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
});
