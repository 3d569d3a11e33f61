import type { Clock } from '../../clock.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { ThreadTtlReply, ThreadTtlStrategy } from '../../contract/agent/thread.ts';
import type { Storage } from '../storage/open.ts';
import { keepLatestOfLocked } from './keep-latest.ts';
import { showLifetime, type Lifetimes } from './lifetime.ts';
import { dueAt } from './expiry-sql.ts';
import { deleteLocked, inTransaction } from './transaction.ts';
import type { StoredThread } from './store.ts';

/** An expired thread. */
export interface DueThread {
  thread_id: string;
  metadata: FreeObject;
  strategy: ThreadTtlStrategy;
}

/** The expiry of the threads of a deployment. */
export class ThreadExpiry {
  readonly #storage: Storage;
  readonly #lifetimes: Lifetimes;
  readonly #clock: Clock;

  constructor(storage: Storage, lifetimes: Lifetimes, clock: Clock) {
    this.#storage = storage;
    this.#lifetimes = lifetimes;
    this.#clock = clock;
  }

  /** Records when the default time to live took effect: older threads never expire. */
  async noteStart(): Promise<void> {
    const { pool } = this.#storage;
    if (!this.#lifetimes.ofAll) await pool.query('delete from thread_lifetime');
    else {
      const now = new Date(this.#clock.now());
      await pool.query('insert into thread_lifetime (since) values ($1) on conflict do nothing', [now]);
    }
  }

  /** The time to live of a thread for the API; null for no expiry. */
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

  /** Expired threads without unfinished runs. */
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
   * Handles the expiry of a thread; false if it is no longer expired, or another process is handling it.
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
