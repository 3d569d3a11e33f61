import { sql } from 'kysely';
import type { SelectQueryBuilder } from 'kysely';
import { PAGE } from '../../contract/agent/assistant.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { Thread, ThreadCount, ThreadSearch, ThreadStatus } from '../../contract/agent/thread.ts';
import type { Clock } from '../../clock.ts';
import type { Storage } from '../storage/open.ts';
import { storable } from '../storage/storable.ts';
import type { Tables } from '../storage/tables.ts';

/** A thread as the server keeps it. */
export interface StoredThread {
  thread_id: string;
  status: ThreadStatus;
  metadata: FreeObject;
  config: FreeObject;
  values: unknown;
  interrupts: FreeObject;
  created_at: Date;
  updated_at: Date;
}

/** A thread as the API shows it (section "Thread"). */
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
  };
}

/** The threads of a deployment, in its database. */
export class ThreadStore {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** Makes a thread; one that is there already is left as it is. */
  async create(threadId: string, metadata: FreeObject): Promise<{ kind: 'made' | 'there'; thread: StoredThread }> {
    const now = new Date(this.#clock.now());
    const made = await this.#storage.db
      .insertInto('threads')
      .values({
        thread_id: threadId,
        status: 'idle',
        metadata: storable(metadata),
        config: '{}',
        interrupts: '{}',
        created_at: now,
        updated_at: now,
      })
      .onConflict((on) => on.column('thread_id').doNothing())
      .returningAll()
      .executeTakeFirst();
    if (made) return { kind: 'made', thread: made };
    const there = await this.get(threadId);
    return there ? { kind: 'there', thread: there } : this.create(threadId, metadata);
  }

  async get(threadId: string): Promise<StoredThread | undefined> {
    return this.#storage.db.selectFrom('threads').selectAll().where('thread_id', '=', threadId).executeTakeFirst();
  }

  /** Adds to a thread's metadata, key by key. */
  async patch(threadId: string, metadata: FreeObject): Promise<StoredThread | undefined> {
    return this.#storage.db
      .updateTable('threads')
      .set({ metadata: sql`metadata || ${storable(metadata)}::jsonb`, updated_at: new Date(this.#clock.now()) })
      .where('thread_id', '=', threadId)
      .returningAll()
      .executeTakeFirst();
  }

  /** One page of those that match, and how many match in all. Newest first where the request says no order. */
  async search(request: ThreadSearch): Promise<{ threads: StoredThread[]; total: number }> {
    const query = matching(this.#storage.db.selectFrom('threads').selectAll(), request)
      .orderBy(request.sort_by ?? 'created_at', request.sort_order ?? 'desc')
      .orderBy('thread_id')
      .limit(request.limit ?? PAGE.defaultLimit)
      .offset(request.offset ?? 0);
    const [threads, total] = await Promise.all([query.execute(), this.count(request)]);
    return { threads, total };
  }

  async count(request: ThreadCount & Pick<ThreadSearch, 'ids'>): Promise<number> {
    const query = this.#storage.db.selectFrom('threads').select(sql<string>`count(*)`.as('count'));
    return Number((await matching(query, request).executeTakeFirstOrThrow()).count);
  }

  /** Deletes a thread with its runs and everything they left; false where there is none. */
  async delete(threadId: string): Promise<boolean> {
    return this.#storage.db.transaction().execute(async (tx) => {
      await tx.deleteFrom('runs').where('thread_id', '=', threadId).execute();
      for (const table of ['checkpoint_writes', 'checkpoint_blobs', 'checkpoints']) {
        await sql`delete from ${sql.table(table)} where thread_id = ${threadId}`.execute(tx);
      }
      const gone = await tx.deleteFrom('threads').where('thread_id', '=', threadId).executeTakeFirstOrThrow();
      return gone.numDeletedRows > 0n;
    });
  }
}

function matching<O>(
  query: SelectQueryBuilder<Tables, 'threads', O>,
  { ids, metadata, values, status }: ThreadCount & Pick<ThreadSearch, 'ids'>,
): SelectQueryBuilder<Tables, 'threads', O> {
  let narrowed = query;
  if (ids !== undefined) narrowed = narrowed.where(sql<boolean>`thread_id = any(${ids}::uuid[])`);
  if (metadata !== undefined) narrowed = narrowed.where(sql<boolean>`metadata @> ${storable(metadata)}::jsonb`);
  if (status !== undefined) narrowed = narrowed.where('status', '=', status);
  // Values may hold what `jsonb` can't (see `storable`), at which the conversion would fail for every row.
  if (values !== undefined) {
    narrowed = narrowed.where(
      sql<boolean>`case when "values"::text ~* '\\\\u(0000|d[89a-f])' then false else "values"::jsonb @> ${storable(values)}::jsonb end`,
    );
  }
  return narrowed;
}

const isState = (values: unknown): values is FreeObject | unknown[] => typeof values === 'object' && values !== null;
