import { sql, type SelectQueryBuilder, type Selectable } from 'kysely';
import { pageBounds } from '../../../contract/agent/assistant.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { Thread, ThreadCount, ThreadSearch } from '../../../contract/agent/thread.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { Storage } from '../storage/open.ts';
import { storableJson } from '../../../kit/json-text.ts';
import type { Tables, ThreadsTable } from '../storage/tables.ts';
import { endOf, sqlTime, type ExpiryCondition, type Lifetime } from './lifetime.ts';
import { inTransaction, type Queryable } from '../storage/transaction.ts';
import type { Pool, PoolClient } from 'pg';

export type StoredThread = Omit<
  Selectable<ThreadsTable>,
  'unfinished' | 'status_at_rest' | 'graph_before' | 'expires_at' | 'pruned_at'
>;

/** Serializes a thread for the API (section "Thread"). */
export function showThread(thread: StoredThread): Thread {
  return {
    thread_id: thread.thread_id,
    created_at: thread.created_at.toISOString(),
    updated_at: thread.updated_at.toISOString(),
    metadata: thread.metadata,
    status: thread.status,
    config: thread.config,
    values: isState(thread.values) ? thread.values : null,
    interrupts: thread.interrupts,
    state_updated_at: (thread.state_updated_at ?? thread.created_at).toISOString(),
  };
}

/** The threads of a deployment. Expired ones are hidden, removed or not. */
export function threadStore(storage: Storage, clock: Clock, isOver: ExpiryCondition) {
  /** Creates a thread; an existing one does not change. @param on the connection of an enclosing transaction. */
  async function create(
    threadId: string,
    metadata: FreeObject,
    lifetime?: Lifetime,
    on?: Queryable,
  ): Promise<{ kind: 'made' | 'there'; thread: StoredThread }> {
    const now = clock.now();
    const { rows } = await (on ?? storage.pool).query<StoredThread>(insertThread, [
      threadId,
      storableJson(metadata),
      new Date(now),
      lifetime?.strategy ?? null,
      lifetime?.minutes ?? null,
      lifetime ? endOf(lifetime, now) : null,
    ]);
    const [made] = rows;
    if (made) return { kind: 'made', thread: made };
    const there = await get(threadId, on);
    if (there) return { kind: 'there', thread: there };
    if (on) await deleteExpired(threadId, on);
    else await inTransaction(storage.pool, (client) => deleteExpired(threadId, client));
    return create(threadId, metadata, lifetime, on);
  }

  /** Deletes an expired thread of the same id. Its row is locked first, so that no run can start on it. */
  async function deleteExpired(threadId: string, on: Queryable): Promise<void> {
    const { rowCount } = await on.query(`select from threads where thread_id = $1 and ${isOver('$2')} for update`, [
      threadId,
      new Date(clock.now()),
    ]);
    if (rowCount === 1) await deleteLocked(on, threadId);
  }

  async function get(threadId: string, on: Queryable = storage.pool): Promise<StoredThread | undefined> {
    const { rows } = await on.query<StoredThread>(
      `select * from threads where thread_id = $1 and not ${isOver('$2')}`,
      [threadId, new Date(clock.now())],
    );
    return rows[0];
  }

  /** Merges metadata key by key, and restarts the time to live. */
  async function patch(threadId: string, metadata: FreeObject, lifetime?: Lifetime): Promise<StoredThread | undefined> {
    const now = clock.now();
    const renewed = lifetime && {
      ttl_strategy: lifetime.strategy,
      ttl_minutes: lifetime.minutes,
      expires_at: endOf(lifetime, now),
    };
    return storage.db
      .updateTable('threads')
      .set({ metadata: sql`metadata || ${storableJson(metadata)}::jsonb`, updated_at: new Date(now), ...renewed })
      .where('thread_id', '=', threadId)
      .where(isThere())
      .returningAll()
      .executeTakeFirst();
  }

  /** The `configurable` of the last accepted run on a thread, from which a factory creates the thread's graph. */
  async function lastConfigurable(threadId: string, on: Queryable = storage.pool): Promise<FreeObject> {
    // The whole, because Postgres takes nothing out of JSON that has a NUL in any of its texts.
    const { rows } = await on.query<{ kwargs: { config?: { configurable?: FreeObject | null } | null } }>(
      'select kwargs from runs where thread_id = $1 order by sequence desc limit 1',
      [threadId],
    );
    return rows[0]?.kwargs.config?.configurable ?? {};
  }

  /** One page of the matches, and their total. Newest first by default. */
  async function search(request: ThreadSearch): Promise<{ threads: StoredThread[]; total: number }> {
    const query = matching(storage.db.selectFrom('threads').selectAll().where(isThere()), request)
      .orderBy(orderOf(request.sort_by ?? 'created_at'), request.sort_order ?? 'desc')
      .orderBy('thread_id')
      .limit(request.limit ?? pageBounds.defaultLimit)
      .offset(request.offset ?? 0);
    const [threads, total] = await Promise.all([query.execute(), count(request)]);
    return { threads, total };
  }

  async function count(request: ThreadCount & Pick<ThreadSearch, 'ids'>): Promise<number> {
    const query = storage.db.selectFrom('threads').select(sql<string>`count(*)`.as('count'));
    return Number((await matching(query.where(isThere()), request).executeTakeFirstOrThrow()).count);
  }

  function isThere() {
    return sql<boolean>`not ${sql.raw(isOver(sqlTime(clock.now())))}`;
  }

  return { create, get, patch, lastConfigurable, search, count };
}
export type ThreadStore = ReturnType<typeof threadStore>;

const insertThread = `
  insert into threads
    (thread_id, status, metadata, config, interrupts, created_at, updated_at, ttl_strategy, ttl_minutes, expires_at)
  values ($1, 'idle', $2::jsonb, '{}', '{}', $3, $3, $4, $5, $6)
  on conflict (thread_id) do nothing
  returning *`;

const orderOf = (field: NonNullable<ThreadSearch['sort_by']>) =>
  field === 'state_updated_at' ? sql<Date>`coalesce(state_updated_at, created_at)` : sql.ref<Date>(field);

function matching<O>(
  query: SelectQueryBuilder<Tables, 'threads', O>,
  { ids, metadata, values, status }: ThreadCount & Pick<ThreadSearch, 'ids'>,
): SelectQueryBuilder<Tables, 'threads', O> {
  let narrowed = query;
  if (ids !== undefined) narrowed = narrowed.where(sql<boolean>`thread_id = any(${ids}::uuid[])`);
  if (metadata !== undefined) narrowed = narrowed.where(sql<boolean>`metadata @> ${storableJson(metadata)}::jsonb`);
  if (status !== undefined) narrowed = narrowed.where('status', '=', status);
  // Values may contain what `jsonb` can't (see `storableJson`): the conversion would then fail for every row.
  if (values !== undefined) {
    narrowed = narrowed.where(
      sql<boolean>`case when "values"::text ~* '\\\\u(0000|d[89a-f])' then false else "values"::jsonb @> ${storableJson(values)}::jsonb end`,
    );
  }
  return narrowed;
}

const isState = (values: unknown): values is FreeObject | unknown[] => typeof values === 'object' && values !== null;

/** Changes a thread under its row's lock: no run can start on it. A busy one only if `evenBusy`. */
export function changeLocked(
  pool: Pool,
  threadId: string,
  change: (client: PoolClient) => Promise<void>,
  evenBusy: boolean,
): Promise<'done' | 'missing' | 'busy'> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ unfinished: number }>(
      'select unfinished from threads where thread_id = $1 for update',
      [threadId],
    );
    const [thread] = rows;
    if (!thread) return 'missing';
    if (thread.unfinished > 0 && !evenBusy) return 'busy';
    await change(client);
    return 'done';
  });
}

/** Deletes a locked thread with its runs, checkpoints, writes, and, by foreign keys, its crons. */
export async function deleteLocked(client: Queryable, threadId: string): Promise<void> {
  await client.query(deleteAll, [threadId]);
}

const deleteAll = `
  with events as (delete from run_events using runs where run_events.run_id = runs.run_id and runs.thread_id = $1::uuid),
    runs as (delete from runs where thread_id = $1::uuid),
    writes as (delete from checkpoint_writes where thread_id = $1::uuid::text),
    blobs as (delete from checkpoint_blobs where thread_id = $1::uuid::text),
    checkpoints as (delete from checkpoints where thread_id = $1::uuid::text)
  delete from threads where thread_id = $1::uuid`;
