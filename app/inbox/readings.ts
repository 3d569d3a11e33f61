import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../src/kit/clock.ts';
import type { InboxTables } from './deliveries.ts';

export interface ReadingsOptions {
  clock: Pick<Clock, 'now'>;
  /** Names who reads: marks of other readers are of no account. */
  reader: string;
  /** No other process uses the database: what another one began, it will never end. */
  alone: boolean;
  /** How many processes may have ended while they read the content, before it is held to be the reason. */
  forgiven: number;
}

/** How long what was late is not read again (ms): the machine may have been busy. */
const lateForMs = 60 * 60_000;

/** A process whose reading began this long ago (ms) has ended meanwhile: each reading has a deadline. */
const endedAfterMs = 60_000;

/**
 * Marks of what is being read of repositories, by the digest of the content. What ended its reader, or the process that
 * read it, is not read again, by whichever delivery or run it comes. They are pruned with the deliveries.
 */
export function openReadings(tables: Kysely<InboxTables>, { clock, reader, alone, forgiven }: ReadingsOptions) {
  // Two marks of one process count as two: what ends the App, too, is not read a third time.
  const holders = { first: randomUUID(), again: randomUUID() };
  const own = Object.values(holders);
  const idOf = (digest: string): string => `${reader} ${digest}`;
  return {
    /**
     * Marks the content before it is read: for the first time, or again where its reader was killed from outside.
     * Nothing is read again that may have ended a process before. @returns false if it is not to be read.
     */
    async begin(digest: string, which: 'first' | 'again'): Promise<boolean> {
      const most = which === 'first' ? forgiven : 0;
      const content = idOf(digest);
      const now = clock.now();
      const ended = alone ? new Date(now) : new Date(now - endedAfterMs);
      const { rows } = await sql`
        insert into app.readings (content, holder, began_at)
        select ${content}, ${holders[which]}, ${new Date(now)}
        where not exists (select from app.readings where content = ${content} and refused_until > ${new Date(now)})
          and (select count(*) from app.readings where content = ${content} and holder <> all(${own})
               and refused_until is null and began_at <= ${ended}) <= ${most}
        on conflict (content, holder) do update set began_at = excluded.began_at, refused_until = null
        returning content`.execute(tables);
      return rows.length > 0;
    },
    /** Removes the mark of what was read, and keeps that of what was given up. */
    async end(digest: string, how: 'read' | 'late' | 'died'): Promise<void> {
      const content = idOf(digest);
      if (how === 'read') {
        await sql`delete from app.readings where content = ${content} and holder = any(${own})`.execute(tables);
        return;
      }
      const until = how === 'died' ? 'infinity' : new Date(clock.now() + lateForMs).toISOString();
      await sql`update app.readings set refused_until = ${until}::timestamptz
        where content = ${content} and holder = any(${own})`.execute(tables);
    },
  };
}
export type Readings = ReturnType<typeof openReadings>;
