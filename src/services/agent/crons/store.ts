import { sql, type SelectQueryBuilder } from 'kysely';
import { isUuid } from '../../../kit/uuid.ts';
import { hasCode } from '../../../kit/errors.ts';
import { pageBounds } from '../../../contract/agent/assistant.ts';
import type { CronCount, CronSearch } from '../../../contract/agent/cron.ts';
import { defaultAssistantId } from '../assistants/assistant.ts';
import { inTransaction, type Queryable } from '../storage/transaction.ts';
import type { Storage } from '../storage/open.ts';
import { storableJson } from '../../../kit/json-text.ts';
import type { Tables } from '../storage/tables.ts';
import type { LiveThreadCondition } from '../threads/lifetime.ts';
import { storedCron, type StoredCron, type StoredCronRun } from './cron-row.ts';

/**
 * The crons of a deployment.
 * @param threadIsThere excludes expired threads, whose crons are hidden.
 */
export const cronStore = (storage: Storage, threadIsThere: LiveThreadCondition) => ({
  /** The last runs of a cron, newest first. One that left its thread waiting for a person is interrupted. */
  async runs(cronId: string, limit: number): Promise<StoredCronRun[]> {
    const { rows } = await storage.pool.query<StoredCronRun>({
      name: 'runs-of-cron',
      text: `
        select run_id, case when temporary then null else thread_id end as thread_id,
          case when status = 'success' and exists (
            select from threads where threads.thread_id = runs.thread_id and threads.status_at_rest = 'interrupted'
              and threads.state_updated_at = runs.ended_at
          ) then 'interrupted' else status end as status,
          error, created_at, started_at, ended_at
        from runs where metadata ? 'cron_id' and metadata ->> 'cron_id' = $1::text
        union all
        select run_id, null, status, error, created_at, started_at, ended_at from cron_runs where cron_id = $1::uuid
        order by created_at desc limit $2`,
      values: [cronId, limit],
    });
    return rows;
  },

  /** Inserts a cron; false if its assistant or thread was deleted meanwhile. */
  async create(cron: StoredCron): Promise<boolean> {
    const row = { ...cron, payload: JSON.stringify(cron.payload), metadata: storableJson(cron.metadata) };
    try {
      await storage.db.insertInto('crons').values(row).execute();
      return true;
    } catch (error) {
      // 23503 is a foreign key violation: the only one that a valid cron can cause.
      if (hasCode(error, '23503')) return false;
      throw error;
    }
  },

  async get(cronId: string): Promise<StoredCron | undefined> {
    const query = storage.db.selectFrom('crons').selectAll().where('cron_id', '=', cronId);
    return query.where(threadIsThere('crons')).executeTakeFirst();
  },

  /** Replaces a cron, unless it has changed since it was read: undefined then. Without `next`, its next time stays. */
  async replace(read: StoredCron, changed: StoredCron, next: Date | null | undefined): Promise<StoredCron | undefined> {
    return storage.db
      .updateTable('crons')
      .set({
        schedule: changed.schedule,
        timezone: changed.timezone,
        end_time: changed.end_time,
        enabled: changed.enabled,
        on_run_completed: changed.on_run_completed,
        payload: JSON.stringify(changed.payload),
        metadata: storableJson(changed.metadata),
        updated_at: changed.updated_at,
        ...(next === undefined ? {} : { next_run_date: next }),
      })
      .where('cron_id', '=', read.cron_id)
      .where('updated_at', '=', read.updated_at)
      .returningAll()
      .executeTakeFirst();
  },

  async delete(cronId: string): Promise<boolean> {
    const query = storage.db.deleteFrom('crons').where('cron_id', '=', cronId).where(threadIsThere('crons'));
    return (await query.executeTakeFirstOrThrow()).numDeletedRows > 0n;
  },

  /** One page of the matches, and their total. Newest first by default. */
  async search(request: CronSearch): Promise<{ crons: StoredCron[]; total: number }> {
    const { sort_by = 'created_at', sort_order = 'desc' } = request;
    const query = matching(storage.db.selectFrom('crons').selectAll().where(threadIsThere('crons')), request)
      .orderBy(sort_by, (order) => (sort_order === 'asc' ? order.asc() : order.desc()).nullsLast())
      .orderBy('cron_id')
      .limit(request.limit ?? pageBounds.defaultLimit)
      .offset(request.offset ?? 0);
    const [crons, total] = await Promise.all([query.execute(), this.count(request)]);
    return { crons, total };
  },

  async count(request: CronCount): Promise<number> {
    const query = storage.db.selectFrom('crons').select(sql<string>`count(*)`.as('count'));
    return Number((await matching(query.where(threadIsThere('crons')), request).executeTakeFirstOrThrow()).count);
  },

  /** Due crons, the longest due first. @param after the last cron of the previous page; undefined for the first page. */
  async due(now: Date, limit: number, after?: Pick<StoredCron, 'next_run_date' | 'cron_id'>): Promise<StoredCron[]> {
    const { rows } = await storage.pool.query<StoredCron>({
      name: 'due-crons',
      text: `
        select ${storedCron} from crons
        where next_run_date <= $1 and ($3::timestamptz is null or (next_run_date, cron_id) > ($3, $4::uuid))
        order by next_run_date, cron_id limit $2`,
      values: [now, limit, after?.next_run_date, after?.cron_id],
    });
    return rows;
  },

  /** Advances a due cron in one transaction with what `act` writes; undefined if another process was faster. */
  async moveOn<T>(
    { cron_id, next_run_date, updated_at }: StoredCron,
    next: number | undefined,
    act: (on: Queryable) => Promise<T>,
  ): Promise<T | undefined> {
    return inTransaction(storage.pool, async (client) => {
      // The run first, in the lock order of deleting a thread with its crons: thread before cron.
      const done = await act(client);
      const { rowCount } = await client.query({
        name: 'move-cron-on',
        text: 'update crons set next_run_date = $1 where cron_id = $2 and next_run_date = $3 and updated_at = $4',
        values: [next === undefined ? null : new Date(next), cron_id, next_run_date, updated_at],
      });
      if (rowCount === 1) return done;
      // The commit that follows then finds nothing to do.
      await client.query('rollback');
      return undefined;
    });
  },
});
export type CronStore = ReturnType<typeof cronStore>;

function matching<O>(
  query: SelectQueryBuilder<Tables, 'crons', O>,
  { assistant_id, thread_id, enabled, metadata }: CronCount,
): SelectQueryBuilder<Tables, 'crons', O> {
  let narrowed = query;
  if (assistant_id !== undefined) {
    const id = isUuid(assistant_id) ? assistant_id : defaultAssistantId(assistant_id);
    narrowed = narrowed.where('assistant_id', '=', id);
  }
  if (thread_id !== undefined) narrowed = narrowed.where('thread_id', '=', thread_id);
  if (enabled !== undefined) narrowed = narrowed.where('enabled', '=', enabled);
  if (metadata !== undefined) narrowed = narrowed.where(sql<boolean>`metadata @> ${storableJson(metadata)}::jsonb`);
  return narrowed;
}
