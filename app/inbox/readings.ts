import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../src/kit/clock.ts';
import type { InboxTables } from './deliveries.ts';

export interface ReadingsOptions {
  clock: Pick<Clock, 'now'>;
  /** Identifies the reader. Marks of other readers are ignored. */
  reader: string;
  /** Whether no other process uses the database. Then marks of other processes are of ended ones. */
  alone: boolean;
  /** How many processes may have ended while they read the content before it is considered the cause. */
  maxInterruptions: number;
}

/** How long content is not read again after a timeout (ms), for which the machine may have been too busy. */
const lateRetryMs = 60 * 60_000;

/** A process that started reading longer ago than this (ms) has ended, because each reading has a deadline. */
const endedAfterMs = 60_000;

/**
 * Marks the content of repositories that is being read, by its digest. Content that ended the process that read it is
 * not read again, even for another delivery or run. The marks are pruned with the deliveries.
 */
export function openReadings(tables: Kysely<InboxTables>, { clock, reader, alone, maxInterruptions }: ReadingsOptions) {
  // Two marks of one process count as two, so that content that ends even the App is not read a third time.
  const holders = { first: randomUUID(), again: randomUUID() };
  const ownHolders = Object.values(holders);
  const idOf = (digest: string): string => `${reader} ${digest}`;
  return {
    /**
     * Marks the content before it is read: for the first time, or again after its process was killed from outside.
     *
     * @returns false if it must not be read, because it may have ended a process before.
     */
    async begin(digest: string, which: 'first' | 'again'): Promise<boolean> {
      const maxUnfinished = which === 'first' ? maxInterruptions : 0;
      const content = idOf(digest);
      const now = clock.now();
      const endedBefore = alone ? new Date(now) : new Date(now - endedAfterMs);
      const { rows } = await sql`
        insert into app.readings (content, holder, began_at)
        select ${content}, ${holders[which]}, ${new Date(now)}
        where not exists (select from app.readings where content = ${content} and refused_until > ${new Date(now)})
          and (select count(*) from app.readings where content = ${content} and holder <> all(${ownHolders})
               and refused_until is null and began_at <= ${endedBefore}) <= ${maxUnfinished}
        on conflict (content, holder) do update set began_at = excluded.began_at, refused_until = null
        returning content`.execute(tables);
      return rows.length > 0;
    },
    /** Removes the mark if the content was read, and keeps it if reading was given up. */
    async end(digest: string, how: 'read' | 'late' | 'died'): Promise<void> {
      const content = idOf(digest);
      if (how === 'read') {
        await sql`delete from app.readings where content = ${content} and holder = any(${ownHolders})`.execute(tables);
        return;
      }
      const until = how === 'died' ? 'infinity' : new Date(clock.now() + lateRetryMs).toISOString();
      await sql`update app.readings set refused_until = ${until}::timestamptz
        where content = ${content} and holder = any(${ownHolders})`.execute(tables);
    },
  };
}
export type Readings = ReturnType<typeof openReadings>;
