import { sql } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import { inTransaction } from '../store/statements.ts';
import type { ControlDatabase, LogKind, LogLine } from '../store/tables.ts';

/** A new line of a build log or a deploy log. */
export interface NewLogLine {
  level: string;
  message: string;
  /** Milliseconds since the epoch; now, when absent. */
  at?: number;
}

/** The longest message that is stored, in characters; the rest is cut off, with a note. */
const maxMessageLength = 8_192;
/** The most lines of a kind that a revision keeps: the newest. */
export const maxLines = 20_000;

export interface LogPageQuery {
  order: 'asc' | 'desc';
  limit: number;
  /** The id of the last line of the previous page. */
  after?: string | undefined;
  /** A level, in any case. */
  level?: string | undefined;
  /** Text that the message contains, in any case. */
  containing?: string | undefined;
  from?: Date | undefined;
  until?: Date | undefined;
}

function linesOf(db: ControlDatabase, kind: LogKind, query: LogPageQuery) {
  let select = db.selectFrom('log_lines').selectAll().where('kind', '=', kind);
  if (query.after !== undefined) select = select.where('id', query.order === 'asc' ? '>' : '<', query.after);
  if (query.level !== undefined) {
    select = select.where(sql<string>`lower(level)`, '=', query.level.toLowerCase());
  }
  if (query.containing !== undefined) {
    select = select.where(sql<number>`strpos(lower(message), lower(${query.containing}))`, '>', 0);
  }
  if (query.from) select = select.where('at', '>=', query.from);
  if (query.until) select = select.where('at', '<', query.until);
  return select;
}

function toStorableText(message: string): string {
  const text = message
    .replaceAll('\0', '')
    .replace(/\r?\n$/, '')
    .toWellFormed();
  return text.length > maxMessageLength
    ? `${text.slice(0, maxMessageLength)} … (${text.length} characters, cut)`
    : text;
}

export const logStore = (db: ControlDatabase, clock: Clock) => ({
  /** Appends lines in order. Drops a trailing line break and NUL characters, which Postgres refuses. */
  async appendLog(revisionId: string, kind: LogKind, lines: readonly NewLogLine[]): Promise<void> {
    if (lines.length === 0) return;
    const rows = lines.map(({ level, message, at = clock.now() }) => ({
      revision_id: revisionId,
      kind,
      level,
      message: toStorableText(message),
      at: new Date(at),
    }));
    await inTransaction(db, async (trx) => {
      // One writer of a log at a time: a reader of a line has then seen all lower ids.
      await sql`select pg_advisory_xact_lock(hashtextextended(${`${revisionId} ${kind}`}, 0))`.execute(trx);
      await trx.insertInto('log_lines').values(rows).execute();
    });
  },

  /** Drops all but the newest `keep` lines of a revision's log. */
  async trimLog(revisionId: string, kind: LogKind, keep: number = maxLines): Promise<void> {
    await db
      .deleteFrom('log_lines')
      .where('revision_id', '=', revisionId)
      .where('kind', '=', kind)
      .where('id', '<=', (query) =>
        query
          .selectFrom('log_lines')
          .select('id')
          .where('revision_id', '=', revisionId)
          .where('kind', '=', kind)
          .orderBy('id', 'desc')
          .limit(1)
          .offset(keep),
      )
      .execute();
  },

  /** A page of the lines of some revisions, in their stored order. */
  async readLog(revisionIds: readonly string[], kind: LogKind, query: LogPageQuery): Promise<LogLine[]> {
    if (revisionIds.length === 0) return [];
    return linesOf(db, kind, query)
      .where('revision_id', 'in', revisionIds)
      .orderBy('id', query.order)
      .limit(query.limit)
      .execute();
  },

  /** A page of the lines of all revisions of a deployment, in their stored order. Reads at most a page per revision. */
  readLogOfAll: (deploymentId: string, kind: LogKind, query: LogPageQuery): Promise<LogLine[]> =>
    db
      .selectFrom('revisions')
      .innerJoinLateral(
        () =>
          linesOf(db, kind, query)
            .whereRef('revision_id', '=', sql.ref('revisions.id'))
            .orderBy('id', query.order)
            .limit(query.limit)
            .as('lines'),
        (join) => join.onTrue(),
      )
      .selectAll('lines')
      .where('revisions.deployment_id', '=', deploymentId)
      .orderBy('lines.id', query.order)
      .limit(query.limit)
      .execute(),
});
