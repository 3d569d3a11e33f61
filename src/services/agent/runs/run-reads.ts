import { sql } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import { pageBounds } from '../../../contract/agent/assistant.ts';
import type { RunStatus } from '../../../contract/agent/run.ts';
import type { Storage } from '../storage/open.ts';
import { sqlTime, liveThreadCondition, type ExpiryCondition } from '../threads/lifetime.ts';
import { hasCheckpoint } from '../threads/checkpoint-selector.ts';
import { storedTypes, type EngineLanguage } from '../graphs/checkpoint-language.ts';
import type { StoredRun } from './run-row.ts';
import { runWritesTask } from './undo-statements.ts';

/** The progress of a run's attempts. */
export interface AttemptProgress {
  /** The whole graph has a checkpoint of the run. */
  wentOn: boolean;
  /** A subgraph has one. */
  inside: boolean;
  /** A task has consumed the run's resume value. */
  taken: boolean;
}

/** Reads the runs of a deployment, without those of expired threads. */
export class RunReads {
  protected readonly storage: Storage;
  protected readonly clock: Clock;
  readonly #isOver: ExpiryCondition;

  constructor(storage: Storage, clock: Clock, isOver: ExpiryCondition) {
    this.storage = storage;
    this.clock = clock;
    this.#isOver = isOver;
  }

  async get(threadId: string, runId: string): Promise<StoredRun | undefined> {
    const query = this.storage.db.selectFrom('runs').selectAll().where(this.#isThere());
    return query.where('run_id', '=', runId).where('thread_id', '=', threadId).executeTakeFirst();
  }

  async find(runId: string): Promise<StoredRun | undefined> {
    const query = this.storage.db.selectFrom('runs').selectAll().where(this.#isThere());
    return query.where('run_id', '=', runId).executeTakeFirst();
  }

  /** Whether a run on the thread can start at that checkpoint. */
  async hasCheckpoint(threadId: string, checkpoint_id: string): Promise<boolean> {
    return hasCheckpoint(this.storage.pool, threadId, { checkpoint_id });
  }

  /** The language of the graph that wrote a thread's state; undefined if it has none. */
  async languageOf(threadId: string): Promise<EngineLanguage | undefined> {
    const { rows } = await this.storage.pool.query<{ type: string }>(
      'select type from checkpoint_blobs where thread_id = $1 and type = any($2) limit 1',
      [threadId, Object.values(storedTypes)],
    );
    const [stored] = rows;
    return stored && (stored.type === storedTypes.python ? 'python' : 'javascript');
  }

  /** The id of a run's last checkpoint, if any. Manual updates carry the id of the run before them. */
  async lastCheckpoint({ thread_id, run_id }: Pick<StoredRun, 'thread_id' | 'run_id'>): Promise<string | undefined> {
    const { rows } = await this.storage.pool.query<{ checkpoint_id: string }>(
      `select checkpoint_id from checkpoints
       where thread_id = $1 and checkpoint_ns = '' and metadata ->> 'run_id' = $2 and metadata ->> 'source' in ('input', 'loop')
       order by checkpoint_id desc limit 1`,
      [thread_id, run_id],
    );
    return rows[0]?.checkpoint_id;
  }

  /** The progress of a run's attempts, from the checkpoints of its thread. */
  async howFar({ thread_id, run_id }: Pick<StoredRun, 'thread_id' | 'run_id'>): Promise<AttemptProgress> {
    const { rows } = await this.storage.pool.query<{ went_on: boolean; inside: boolean; taken: boolean }>(
      `with own as materialized (
         select checkpoint_ns, checkpoint_id, metadata ->> 'source' as source from checkpoints
         where thread_id = $1 and metadata ->> 'run_id' = $2
       )
       select
         exists (select from own where checkpoint_ns = '' and source in ('input', 'loop')) as went_on,
         exists (select from own where checkpoint_ns <> '') as inside,
         exists (
           select from checkpoint_writes w where w.thread_id = $1 and w.channel = '__resume__' and w.task_id <> $3 and (
             exists (select from own where own.checkpoint_ns = w.checkpoint_ns and own.checkpoint_id = w.checkpoint_id)
             or exists (
               select from checkpoint_writes_before b
               where b.run_id = $2::uuid and b.thread_id = $1 and b.checkpoint_ns = w.checkpoint_ns
                 and b.checkpoint_id = w.checkpoint_id and b.task_id = w.task_id and b.idx = w.idx
             )
           )
         ) as taken`,
      [thread_id, run_id, runWritesTask],
    );
    const [row] = rows;
    return { wentOn: row?.went_on === true, inside: row?.inside === true, taken: row?.taken === true };
  }

  /** The runs of a thread, newest first. */
  async list(
    threadId: string,
    page: { limit?: number | undefined; offset?: number | undefined; status?: RunStatus | undefined },
  ): Promise<StoredRun[]> {
    let query = this.storage.db.selectFrom('runs').selectAll().where('thread_id', '=', threadId);
    if (page.status !== undefined) query = query.where('status', '=', page.status);
    return query
      .orderBy('sequence', 'desc')
      .limit(page.limit ?? pageBounds.defaultLimit)
      .offset(page.offset ?? 0)
      .execute();
  }

  /** Unfinished runs of all threads, also stateless ones, newest first. */
  async allUnfinished(limit: number): Promise<StoredRun[]> {
    const query = this.storage.db.selectFrom('runs').selectAll().where(this.#isThere()).where('ended_at', 'is', null);
    return query.where('status', 'in', ['pending', 'running']).orderBy('sequence', 'desc').limit(limit).execute();
  }

  async unfinished(threadId: string): Promise<{ run_id: string }[]> {
    const query = this.storage.db.selectFrom('runs').select('run_id').where('thread_id', '=', threadId);
    return query.where('ended_at', 'is', null).where('status', 'in', ['pending', 'running']).execute();
  }

  /** The unfinished runs of a thread that were accepted before this one, without delayed ones. */
  async unfinishedBefore(threadId: string, runId: string): Promise<{ run_id: string }[]> {
    const query = this.storage.db.selectFrom('runs').select('run_id').where('thread_id', '=', threadId);
    return query
      .where('ended_at', 'is', null)
      .where((at) => at.or([at('status', '=', 'running'), at.and({ status: 'pending', start_after: null })]))
      .where('sequence', '<', (of) => of.selectFrom('runs').select('sequence').where('run_id', '=', runId))
      .execute();
  }

  /** Which of these ids are runs of the thread. */
  async known(threadId: string, runIds: readonly string[]): Promise<Set<string>> {
    if (runIds.length === 0) return new Set();
    const query = this.storage.db.selectFrom('runs').select('run_id').where('thread_id', '=', threadId);
    return new Set(
      (await query.where(this.#isThere()).where('run_id', 'in', runIds).execute()).map(({ run_id }) => run_id),
    );
  }

  protected async hasThread(threadId: string): Promise<boolean> {
    const isThere = sql<boolean>`not ${sql.raw(this.#isOver(sqlTime(this.clock.now())))}`;
    const query = this.storage.db.selectFrom('threads').select('thread_id').where('thread_id', '=', threadId);
    return (await query.where(isThere).executeTakeFirst()) !== undefined;
  }

  /** Excludes runs of expired threads. Stateless runs don't expire. */
  #isThere() {
    return liveThreadCondition(this.#isOver, this.clock)('runs');
  }
}
