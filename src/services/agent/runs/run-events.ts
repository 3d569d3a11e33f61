import { sql } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import { metadataEvent } from '../../../contract/agent/stream-event.ts';
import type { Storage } from '../storage/open.ts';
import { attemptIds, type LoggedEvent } from './event-log.ts';
import { lifecycleEvent } from './thread-event-stream.ts';

export interface StoredEvent extends LoggedEvent {
  /** Later attempts have higher numbers. */
  id: number;
}

/** The outcome of a run, stored before the run's own end for callers that wait in other processes. */
export interface StoredEnding {
  kind: 'values' | 'error';
  json: string;
}

export interface Cursor {
  runId: string;
  /** The number of the last event read. */
  after: number;
}

export interface EventPage {
  events: StoredEvent[];
  hasMore: boolean;
}

/** The dropped events of an attempt, whose numbers start with `from`. */
export interface DroppedRange {
  from: number;
  upTo: number;
}

/** The event that replaces the last dropped one and reports that events were dropped. */
export const droppedEvent = (runId: string, { from, upTo }: DroppedRange): StoredEvent => ({
  id: upTo,
  event: metadataEvent,
  json: JSON.stringify({ run_id: runId, attempt: from / attemptIds + 1, dropped_up_to: upTo }),
});

/** The page limits: events of one run, and bytes of all runs of a query. At least one event is read. */
const maxRead = { events: 100, bytes: 16 * 1024 * 1024 };

interface ReadRow {
  place: string;
  id: string;
  event: string;
  data: string;
  found: string;
}

/** The stored events of resumable runs, and of runs that another process follows. */
export class RunEvents {
  readonly #storage: Storage;
  readonly #processId: string;
  readonly #clock: Clock;
  /** Called with events that were just stored; without any if that is uncertain. */
  onWritten: (runId: string, events: readonly StoredEvent[]) => void = () => undefined;

  /** @param processId the owner of the runs; events of other processes' runs are rejected. */
  constructor(storage: Storage, processId: string, clock: Clock) {
    this.#storage = storage;
    this.#processId = processId;
    this.#clock = clock;
  }

  async write(runId: string, events: readonly StoredEvent[], ending?: StoredEnding & { id: number }): Promise<void> {
    const rows = [
      ...events.map(({ id, event, json }) => ({ id, event, json, atEnd: false })),
      ...(ending ? [{ id: ending.id, event: ending.kind, json: ending.json, atEnd: true }] : []),
    ];
    if (rows.length === 0) return;
    const { rowCount } = await this.#storage.pool.query({
      name: 'write-run-events',
      text: `
        insert into run_events (run_id, id, event, data, at_end, written_at)
        select $1, e.id, e.event, e.data, e.at_end, $6
        from unnest($2::bigint[], $3::text[], $4::text[], $5::boolean[]) as e (id, event, data, at_end)
        where exists (select from runs where run_id = $1 and process_id = $7)
        on conflict do nothing`,
      values: [
        runId,
        rows.map(({ id }) => id),
        rows.map(({ event }) => event),
        rows.map(({ json }) => json),
        rows.map(({ atEnd }) => atEnd),
        new Date(this.#clock.now()),
        this.#processId,
      ],
    });
    // A repetition whose first response was lost writes no row.
    this.onWritten(runId, rowCount === rows.length ? events : []);
  }

  /** The next events after each cursor, in order, one page each. */
  async after(cursors: readonly Cursor[]): Promise<EventPage[]> {
    if (cursors.length === 0) return [];
    const { rows } = await this.#storage.pool.query<ReadRow>({
      name: 'run-events-after',
      text: `
        select cursor.place, e.id, e.event, e.data, e.found
        from unnest($1::uuid[], $2::bigint[]) with ordinality as cursor (run_id, after, place)
        cross join lateral (
          select *, sum(octet_length(data)) over (order by id) - octet_length(data) as before, count(*) over () as found
          from (
            select id, event, data from run_events
            where run_id = cursor.run_id and id > cursor.after and not at_end order by id limit ${maxRead.events}
          ) page
        ) e
        where e.before < $3
        order by cursor.place, e.id`,
      values: [
        cursors.map(({ runId }) => runId),
        cursors.map(({ after }) => after),
        Math.ceil(maxRead.bytes / cursors.length),
      ],
    });
    const pages = Map.groupBy(rows, ({ place }) => Number(place));
    return cursors.map((_, at) => {
      const page = pages.get(at + 1) ?? [];
      const found = Number(page[0]?.found ?? 0);
      return {
        events: page.map(({ id, event, data }) => ({ id: Number(id), event, json: data })),
        hasMore: page.length < found || found === maxRead.events,
      };
    });
  }

  /** Drops the oldest events of an attempt; the last of them is replaced by an event that reports it. */
  async drop(runId: string, gone: DroppedRange): Promise<void> {
    const { event, json } = droppedEvent(runId, gone);
    await this.#storage.pool.query({
      name: 'drop-run-events',
      text: `
        with ours as (
          select from runs where run_id = $1 and process_id = $6
        ), dropped as (
          delete from run_events where run_id = $1 and id >= $2 and id < $3 and not at_end and exists (select from ours)
        )
        update run_events set event = $4, data = $5
        where run_id = $1 and id = $3 and exists (select from ours)`,
      values: [runId, gone.from, gone.upTo, event, json, this.#processId],
    });
  }

  /** The last dropped number of a run's events, if it is after the given one: a stream can't resume from there. */
  async droppedAfter(runId: string, after: number): Promise<number | undefined> {
    const row = await this.#storage.db
      .selectFrom('run_events')
      .select('id')
      .where('run_id', '=', runId)
      .where('id', '>', String(after))
      .where('event', '=', metadataEvent)
      .where(sql<boolean>`id % ${attemptIds} <> 0`)
      .where('at_end', '=', false)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && Number(row.id);
  }

  /** The number of the last stored event; -1 if there is none. */
  async last(runId: string): Promise<number> {
    const row = await this.#storage.db
      .selectFrom('run_events')
      .select((of) => of.fn.max('id').as('id'))
      .where('run_id', '=', runId)
      .where('at_end', '=', false)
      .executeTakeFirst();
    return Number(row?.id ?? -1);
  }

  /** Deletes what is stored of an attempt of a run and of later ones. */
  async deleteFrom(runId: string, attempt: number): Promise<void> {
    const firstId = String((attempt - 1) * attemptIds);
    await this.#storage.db.deleteFrom('run_events').where('run_id', '=', runId).where('id', '>=', firstId).execute();
  }

  /** Deletes the lifecycle event of an end whose process died before it stored the end itself. */
  async deleteUnstoredEnd(runId: string): Promise<void> {
    await this.#storage.pool.query(
      `delete from run_events where run_id = $1 and not at_end and event = $2
         and id = (select max(id) from run_events where run_id = $1 and not at_end)
         and data like '{"namespace":[],%' and data not like '%"event":"running"%'`,
      [runId, lifecycleEvent],
    );
  }

  /** Whether events are all that remains of an ended stateless run. */
  async areLeft(threadId: string, runId: string): Promise<boolean> {
    const { rowCount } = await this.#storage.pool.query(
      `select from run_events where run_id = $1
         and not exists (select from runs where run_id = $1 or thread_id = $2)
         and not exists (select from threads where thread_id = $2)
       limit 1`,
      [runId, threadId],
    );
    return rowCount === 1;
  }

  /** The outcome of a run's last attempt, and the number of its event, if stored. */
  async ending(runId: string): Promise<(StoredEnding & { id: number }) | undefined> {
    const row = await this.#storage.db
      .selectFrom('run_events')
      .select(['id', 'event', 'data', 'at_end'])
      .where('run_id', '=', runId)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (!row?.at_end) return undefined;
    return { kind: row.event === 'error' ? 'error' : 'values', json: row.data, id: Number(row.id) };
  }

  /**
   * Deletes the events of runs that ended before a time (ms since the epoch). In the stream of a thread, a run's events
   * come after those of the runs before it: they are kept until these have ended by then, too.
   */
  async deleteBefore(before: number): Promise<void> {
    await this.#storage.pool.query(
      `delete from run_events where written_at < $1
         and $1 > (
           select last.written_at from run_events last where last.run_id = run_events.run_id order by last.id desc limit 1
         )
         and not exists (
           select from runs where runs.run_id = run_events.run_id and (
             runs.ended_at is null or runs.ended_at >= $1
             or runs.thread_stream and exists (
               select from runs earlier
               where earlier.thread_id = runs.thread_id and earlier.thread_stream and earlier.sequence < runs.sequence
                 and (earlier.ended_at is null or earlier.ended_at >= $1)
             )
           )
         )`,
      [new Date(before)],
    );
  }
}
