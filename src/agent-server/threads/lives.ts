import type { Clock } from '../../clock.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { ThreadTtlReply, ThreadTtlStrategy } from '../../contract/agent/thread.ts';
import type { Storage } from '../storage/open.ts';
import { keepLatestOfLocked } from './keep-latest.ts';
import { showLifetime } from './lifetime.ts';
import type { Lifetimes } from './lifetime.ts';
import { dueAt } from './over.ts';
import { deleteLocked } from './removal.ts';
import type { StoredThread } from './store.ts';
import { inTransaction } from './transaction.ts';

/** A thread whose time is over. */
export interface DueThread {
  thread_id: string;
  metadata: FreeObject;
  strategy: ThreadTtlStrategy;
}

/** How long the threads of a deployment live, in its database. */
export class ThreadLives {
  readonly #storage: Storage;
  readonly #lifetimes: Lifetimes;
  readonly #clock: Clock;

  constructor(storage: Storage, lifetimes: Lifetimes, clock: Clock) {
    this.#storage = storage;
    this.#lifetimes = lifetimes;
    this.#clock = clock;
  }

  /** Notes since when the configuration file gives threads a time: those that are older keep what they had, for ever. */
  async noteStart(): Promise<void> {
    const { pool } = this.#storage;
    if (!this.#lifetimes.ofAll) await pool.query('delete from thread_lifetime');
    else {
      const now = new Date(this.#clock.now());
      await pool.query('insert into thread_lifetime (since) values ($1) on conflict do nothing', [now]);
    }
  }

  /** The time of a thread as the API shows it; null where it lives for ever. */
  async show(thread: StoredThread): Promise<ThreadTtlReply | null> {
    const { ofAll } = this.#lifetimes;
    const { rows } = await this.#storage.pool.query<{ due_at: Date | null; counted: boolean }>(
      `select ${dueAt('$2')} as due_at, created_at >= (select since from thread_lifetime) as counted
       from threads where thread_id = $1`,
      [thread.thread_id, ofAll?.minutes ?? null],
    );
    const [row] = rows;
    const { ttl_minutes, ttl_strategy } = thread;
    const own = ttl_minutes === null ? undefined : { minutes: ttl_minutes, strategy: ttl_strategy ?? 'delete' };
    return showLifetime(own ?? (row?.counted ? ofAll : undefined), row?.due_at ?? null);
  }

  /** Threads whose time is over and on which no run is under way. */
  async due(): Promise<DueThread[]> {
    const { ofAll, sweepLimit } = this.#lifetimes;
    const { rows } = await this.#storage.pool.query<DueThread>(
      `select thread_id, metadata, coalesce(ttl_strategy, $3) as strategy
       from threads where unfinished = 0 and ${dueAt('$2')} <= $1 limit $4`,
      [new Date(this.#clock.now()), ofAll?.minutes ?? null, ofAll?.strategy ?? 'delete', sweepLimit],
    );
    return rows;
  }

  /**
   * Ends the time of a thread; false where it is no longer over, or another process is at it.
   *
   * @param withAncestors see `KeepLatest`.
   */
  async end({ thread_id, strategy }: DueThread, withAncestors: boolean): Promise<boolean> {
    const now = this.#clock.now();
    return inTransaction(this.#storage.pool, async (client) => {
      const { rowCount } = await client.query(
        `select from threads
         where thread_id = $3 and unfinished = 0 and coalesce(ttl_strategy, $4) = $4 and ${dueAt('$2')} <= $1
         for update skip locked`,
        [new Date(now), this.#lifetimes.ofAll?.minutes ?? null, thread_id, strategy],
      );
      if (rowCount !== 1) return false;
      if (strategy === 'delete') await deleteLocked(client, thread_id);
      else await keepLatestOfLocked(client, thread_id, { now, withAncestors });
      return true;
    });
  }
}
