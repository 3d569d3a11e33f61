import { sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import { PAGE } from '../../contract/agent/assistant.ts';
import type { RunStatus } from '../../contract/agent/run.ts';
import type { Storage } from '../storage/open.ts';
import { sqlTime } from '../threads/over.ts';
import type { IsOver } from '../threads/over.ts';
import { hasCheckpoint } from '../threads/place.ts';
import type { StoredRun } from './run-row.ts';
import { NOBODYS_TASK } from './undo-statements.ts';

/** Which runs of a thread to list. */
export interface RunPage {
  limit?: number | undefined;
  offset?: number | undefined;
  status?: RunStatus | undefined;
}

/** How far the attempts of a run came. */
export interface HowFar {
  /** The whole graph has a state of the run's own. */
  wentOn: boolean;
  /** A graph inside has. */
  inside: boolean;
  /** A task has taken the answer that the run was told. */
  taken: boolean;
}

/** What is read of the runs of a deployment. Those of a thread whose time is over are not there, as it is not. */
export class RunReads {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #isOver: IsOver;

  constructor(storage: Storage, clock: Clock, isOver: IsOver) {
    this.#storage = storage;
    this.#clock = clock;
    this.#isOver = isOver;
  }

  async get(threadId: string, runId: string): Promise<StoredRun | undefined> {
    const query = this.#storage.db.selectFrom('runs').selectAll().where(this.#isThere());
    return query.where('run_id', '=', runId).where('thread_id', '=', threadId).executeTakeFirst();
  }

  /** A run by its id alone. */
  async find(runId: string): Promise<StoredRun | undefined> {
    const query = this.#storage.db.selectFrom('runs').selectAll().where(this.#isThere());
    return query.where('run_id', '=', runId).executeTakeFirst();
  }

  /** Whether a run on the thread could begin at that checkpoint. */
  async hasCheckpoint(threadId: string, checkpoint_id: string): Promise<boolean> {
    return hasCheckpoint(this.#storage.pool, threadId, { checkpoint_id });
  }

  /** The id of the last checkpoint that a run wrote; undefined where none is there. States written by hand bear the name of the run before them. */
  async lastCheckpoint({ thread_id, run_id }: Pick<StoredRun, 'thread_id' | 'run_id'>): Promise<string | undefined> {
    const { rows } = await this.#storage.pool.query<{ checkpoint_id: string }>(
      `select checkpoint_id from checkpoints
       where thread_id = $1 and checkpoint_ns = '' and metadata ->> 'run_id' = $2 and metadata ->> 'source' in ('input', 'loop')
       order by checkpoint_id desc limit 1`,
      [thread_id, run_id],
    );
    return rows[0]?.checkpoint_id;
  }

  /** How far the attempts of a run came, as the states of its thread tell. */
  async howFar({ thread_id, run_id }: Pick<StoredRun, 'thread_id' | 'run_id'>): Promise<HowFar> {
    const { rows } = await this.#storage.pool.query<{ went_on: boolean; inside: boolean; taken: boolean }>(
      `with own as materialized (
         select checkpoint_ns, checkpoint_id, metadata ->> 'source' as source from checkpoints
         where thread_id = $1 and metadata ->> 'run_id' = $2
       )
       select
         exists (select from own where checkpoint_ns = '' and source in ('input', 'loop')) as came_on,
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
      [thread_id, run_id, NOBODYS_TASK],
    );
    const [row] = rows;
    return { wentOn: row?.went_on === true, inside: row?.inside === true, taken: row?.taken === true };
  }

  /** The runs of a thread, newest first. */
  async list(threadId: string, page: RunPage): Promise<StoredRun[]> {
    let query = this.#storage.db.selectFrom('runs').selectAll().where('thread_id', '=', threadId);
    if (page.status !== undefined) query = query.where('status', '=', page.status);
    return query
      .orderBy('sequence', 'desc')
      .limit(page.limit ?? PAGE.defaultLimit)
      .offset(page.offset ?? 0)
      .execute();
  }

  /** The unfinished runs of a thread. */
  async unfinished(threadId: string): Promise<{ run_id: string }[]> {
    const query = this.#storage.db.selectFrom('runs').select('run_id').where('thread_id', '=', threadId);
    return query.where('ended_at', 'is', null).where('status', 'in', ['pending', 'running']).execute();
  }

  /** The unfinished runs of a thread that were accepted before this one, without those whose time has not come. */
  async unfinishedBefore(threadId: string, runId: string): Promise<{ run_id: string }[]> {
    const query = this.#storage.db.selectFrom('runs').select('run_id').where('thread_id', '=', threadId);
    return query
      .where('ended_at', 'is', null)
      .where((at) => at.or([at('status', '=', 'running'), at.and({ status: 'pending', start_after: null })]))
      .where('sequence', '<', (of) => of.selectFrom('runs').select('sequence').where('run_id', '=', runId))
      .execute();
  }

  /** Which of these are runs of the thread. */
  async known(threadId: string, runIds: readonly string[]): Promise<Set<string>> {
    if (runIds.length === 0) return new Set();
    const query = this.#storage.db.selectFrom('runs').select('run_id').where('thread_id', '=', threadId);
    return new Set(
      (await query.where(this.#isThere()).where('run_id', 'in', runIds).execute()).map(({ run_id }) => run_id),
    );
  }

  /** Whether there is such a thread. */
  protected async hasThread(threadId: string): Promise<boolean> {
    const isThere = sql<boolean>`not ${sql.raw(this.#isOver(sqlTime(this.#clock.now())))}`;
    const query = this.#storage.db.selectFrom('threads').select('thread_id').where('thread_id', '=', threadId);
    return (await query.where(isThere).executeTakeFirst()) !== undefined;
  }

  /** Of a run: that its thread's time is not over. One without a thread has none. */
  #isThere() {
    const isOver = sql.raw(this.#isOver(sqlTime(this.#clock.now())));
    return sql<boolean>`not exists (select from threads where threads.thread_id = runs.thread_id and ${isOver})`;
  }
}
