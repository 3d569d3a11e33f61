import { sql } from 'kysely';
import { stackOf } from '../../../kit/errors.ts';
import type { Clock } from '../../../kit/clock.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { ThreadTtlReply, ThreadTtlStrategy } from '../../../contract/agent/thread.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import type { Logger } from '../../../kit/logger.ts';
import type { Storage } from '../storage/open.ts';
import { polling } from '../storage/poll.ts';
import { keepLatest } from './keep-latest.ts';
import type { ThreadDeleter } from './deleter.ts';
import { dueAt, showLifetime, type Lifetimes } from './lifetime.ts';
import { inTransaction } from '../storage/transaction.ts';
import { deleteLocked, type StoredThread } from './store.ts';

export interface DueThread {
  thread_id: string;
  metadata: FreeObject;
  strategy: ThreadTtlStrategy;
}

/** The expiry of the threads of a deployment. */
export const threadExpiry = (storage: Storage, lifetimes: Lifetimes, clock: Clock) => ({
  /** Records when the default time to live took effect: older threads never expire. */
  async noteStart(): Promise<void> {
    const { db } = storage;
    const insert = db.insertInto('thread_lifetime').values({ since: new Date(clock.now()) });
    if (lifetimes.ofAll) await insert.onConflict((on) => on.doNothing()).execute();
    else await db.deleteFrom('thread_lifetime').execute();
  },

  /** The time to live of a thread for the API; null for no expiry. */
  async show(thread: StoredThread): Promise<ThreadTtlReply | null> {
    const { ofAll } = lifetimes;
    const row = await storage.db
      .selectFrom('threads')
      .select([
        sql<Date | null>`${sql.raw(dueAt(ofAll))}`.as('due_at'),
        sql<boolean | null>`created_at >= (select since from thread_lifetime)`.as('counted'),
      ])
      .where('thread_id', '=', thread.thread_id)
      .executeTakeFirst();
    const { ttl_minutes, ttl_strategy } = thread;
    const own = ttl_minutes === null ? undefined : { minutes: ttl_minutes, strategy: ttl_strategy ?? 'delete' };
    return showLifetime(own ?? (row?.counted ? ofAll : undefined), row?.due_at ?? null);
  },

  /** Expired threads without unfinished runs. */
  async due(): Promise<DueThread[]> {
    const { ofAll, sweepLimit } = lifetimes;
    return storage.db
      .selectFrom('threads')
      .select([
        'thread_id',
        'metadata',
        sql<ThreadTtlStrategy>`coalesce(ttl_strategy, ${ofAll?.strategy ?? 'delete'})`.as('strategy'),
      ])
      .where('unfinished', '=', 0)
      .where(sql<Date>`${sql.raw(dueAt(ofAll))}`, '<=', new Date(clock.now()))
      .limit(sweepLimit)
      .execute();
  },

  /** Handles the expiry of a thread; false if it is no longer expired, or another process is handling it. */
  async end({ thread_id, strategy }: DueThread, withAncestors: boolean): Promise<boolean> {
    const now = clock.now();
    return inTransaction(storage.pool, async (client) => {
      const { rowCount } = await client.query(
        `select from threads
         where thread_id = $2 and unfinished = 0 and coalesce(ttl_strategy, $3) = $3 and ${dueAt(lifetimes.ofAll)} <= $1
         for update skip locked`,
        [new Date(now), thread_id, strategy],
      );
      if (rowCount !== 1) return false;
      if (strategy === 'delete') await deleteLocked(client, thread_id);
      else await keepLatest(client, thread_id, { now, withAncestors });
      return true;
    });
  },
});
export type ThreadExpiry = ReturnType<typeof threadExpiry>;

interface SweepDependencies {
  lives: ThreadExpiry;
  deleter: ThreadDeleter;
  everyMs: number;
  clock: Clock;
  gone: (threadId: string) => void;
  log: Logger;
}

/** Handles expired threads. With several processes, each thread is handled once. */
export function threadSweep({ lives, deleter, everyMs, clock, gone, log }: SweepDependencies) {
  const sweep = async (): Promise<void> => {
    for (const thread of await lives.due()) {
      if (polls.signal.aborted) return;
      try {
        const keeps = thread.strategy === 'keep_latest';
        const hasEnded = await lives.end(thread, keeps && (await deleter.withAncestors(thread)));
        if (hasEnded && !keeps) gone(thread.thread_id);
      } catch (error) {
        // A failure for one thread does not stop the others.
        if (isDatabaseUnavailable(error)) throw error;
        log.error(
          { threadId: thread.thread_id },
          `Thread ${thread.thread_id} has expired, but can't be removed: ${stackOf(error)}`,
        );
      }
    }
  };
  const polls = polling(sweep, { what: 'Polling for expired threads', everyMs, clock, log });
  return polls;
}
