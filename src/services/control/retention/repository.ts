import { sql } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import type { ControlDatabase } from '../store/tables.ts';
import type { Ages, RevisionOfBuild } from './expired-builds.ts';

/** The most builds per query, and lines removed per statement. */
const maxBuildsPerQuery = 1_000;
const maxLinesPerDelete = 10_000;

/** The store's operations for retention; ages are in milliseconds. */
export const retentionStore = (db: ControlDatabase, clock: Clock) => ({
  /** Every revision that names one of these builds (`builds/<id>`), of any deployment, newest first. */
  async revisionsOfBuilds(builds: readonly string[]): Promise<RevisionOfBuild[]> {
    const found: (RevisionOfBuild & { sequence: string })[] = [];
    for (let from = 0; from < builds.length; from += maxBuildsPerQuery) {
      const rows = await db
        .selectFrom('revisions')
        .innerJoin('deployments', 'deployments.id', 'revisions.deployment_id')
        .select([
          'revisions.id',
          'revisions.sequence',
          'revisions.status',
          'revisions.updated_at',
          'revisions.build_folder',
          'revisions.deployment_id',
          'deployments.active_revision_id',
        ])
        .where('revisions.build_folder', 'in', builds.slice(from, from + maxBuildsPerQuery))
        .execute();
      for (const row of rows) found.push({ ...row, build_folder: row.build_folder ?? '' });
    }
    return found.toSorted((one, other) => Number(BigInt(other.sequence) - BigInt(one.sequence)));
  },

  /** Removes the log lines of this age, except those of live revisions, in short statements. @returns how many. */
  async deleteOldLines(ageMs: number): Promise<number> {
    const before = new Date(clock.now() - ageMs);
    for (let removed = 0; ;) {
      const { numDeletedRows } = await db
        .deleteFrom('log_lines')
        .where('id', 'in', (query) =>
          query
            .selectFrom('log_lines')
            .select('log_lines.id')
            .leftJoin('deployments', 'deployments.active_revision_id', 'log_lines.revision_id')
            .where('log_lines.at', '<', before)
            .where('deployments.id', 'is', null)
            .limit(maxLinesPerDelete),
        )
        .executeTakeFirstOrThrow();
      removed += Number(numDeletedRows);
      if (Number(numDeletedRows) < maxLinesPerDelete) return removed;
    }
  },

  /** Removes audit records of this age. @returns how many. */
  async deleteOldChanges(ageMs: number): Promise<number> {
    const before = new Date(clock.now() - ageMs);
    const { numDeletedRows } = await db.deleteFrom('audit').where('at', '<', before).executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  },

  /** Removes the sessions without a request in this time. @returns how many. */
  async deleteIdleSessions(ageMs: number): Promise<number> {
    const before = new Date(clock.now() - ageMs);
    const { numDeletedRows } = await db.deleteFrom('sessions').where('last_used_at', '<=', before).executeTakeFirst();
    return Number(numDeletedRows);
  },

  /** Removes the tokens and keys that expired this long ago (ms): nothing accepts them any more. */
  async deleteExpiredAccess(ageMs: number): Promise<void> {
    const before = new Date(clock.now() - ageMs);
    await db.deleteFrom('used_tokens').where('expires_at', '<', before).execute();
    await db.deleteFrom('api_keys').where('expires_at', '<', before).execute();
  },

  /**
   * Removes the traced runs that ended longer ago than this, and the inputs, outputs and steps of all but the newest
   * ones of each project, up to a count and a size. @returns how many were removed.
   */
  async deleteOldRuns(ageMs: number, limits: StepLimits): Promise<number> {
    const { numDeletedRows } = await db
      .deleteFrom('traced_runs')
      .where('ended_at', '<', new Date(clock.now() - ageMs))
      .executeTakeFirst();
    const projects = await db.selectFrom('tracing_projects').select('id').execute();
    for (const { id } of projects) await deleteOldSteps(db, id, limits);
    return Number(numDeletedRows);
  },
});
export type RetentionStore = ReturnType<typeof retentionStore>;

type StepLimits = Pick<Ages['runs'], 'steps' | 'bytes'>;

/** Removes the inputs, outputs and steps of all but the newest runs of a project. */
async function deleteOldSteps(db: ControlDatabase, projectId: string, { steps, bytes }: StepLimits): Promise<void> {
  const size = (column: 'input' | 'output' | 'steps') => sql`coalesce(pg_column_size(${sql.ref(column)}), 0)`;
  const oldest = await db
    .selectFrom(
      db
        .selectFrom('traced_runs')
        .select([
          'ended_at',
          sql<number>`row_number() over (order by ended_at desc)`.as('place'),
          // The stored size, which Postgres knows without reading the value.
          sql<number>`sum(${size('input')} + ${size('output')} + ${size('steps')}) over (order by ended_at desc)`.as(
            'bytes',
          ),
        ])
        .where('project_id', '=', projectId)
        .where('steps', 'is not', null)
        .as('counted'),
    )
    .select('ended_at')
    .where((where) => where.or([where('place', '>', steps), where('bytes', '>', bytes)]))
    .orderBy('ended_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!oldest) return;
  await db
    .updateTable('traced_runs')
    .set({ input: null, output: null, steps: null })
    .where('project_id', '=', projectId)
    .where('ended_at', '<=', oldest.ended_at)
    .where('steps', 'is not', null)
    .execute();
}
