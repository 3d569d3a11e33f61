import { lifecycleData, threadEventParams } from '../../../../contract/agent/thread-stream.ts';
import { fromJson } from '../../../../kit/json-text.ts';
import { lifecycleEvent } from '../../runs/thread-event-stream.ts';
import type { Storage } from '../../storage/open.ts';
import { seqOf, type ThreadCursor } from './event.ts';

/** A stored event with the run that it is of. */
export interface StoredThreadEvent extends ThreadCursor {
  runId: string;
  /** The current attempt of the run. */
  attempt: number;
  hasEnded: boolean;
  event: string;
  /** Its data as JSON; null if the stream does not have such events. */
  json: string | null;
}

/** The status of a run or of a subgraph, by its last lifecycle event. */
export interface NamespaceStatus {
  namespace: string[];
  status: string;
  graphName: string | undefined;
}

/** The page limits. At least one event is read. */
const maxRead = { events: 200, bytes: 16 * 1024 * 1024 };

/** Nothing is read behind an unfinished run of the thread $1. */
const upToFirstUnfinished = `runs.sequence <= coalesce((
  select min(unfinished.sequence) from runs unfinished
  where unfinished.thread_id = $1 and unfinished.thread_stream and unfinished.ended_at is null
), 9223372036854775807)`;

/** The stored events of threads: of runs that emit those of the thread-stream protocol. */
export const threadEventStore = (storage: Storage, processId: string) => ({
  /**
   * The next page of events after a place, none behind an unfinished run: a queued run that was cancelled has events
   * before an earlier one ends. @param names the events whose data are read.
   */
  async after(
    threadId: string,
    { sequence, id }: ThreadCursor,
    names: readonly string[],
  ): Promise<StoredThreadEvent[]> {
    const { rows } = await storage.pool.query<{
      run_id: string;
      sequence: string;
      attempt: number;
      ended: boolean;
      id: string;
      event: string;
      data: string | null;
    }>({
      name: 'thread-events-after',
      text: `
        select run_id, sequence, attempt, ended, id, event, data from (
          select *, coalesce(sum(octet_length(data)) over (order by sequence, id), 0) - coalesce(octet_length(data), 0) as before
          from (
            select runs.run_id, runs.sequence, runs.attempt, runs.ended_at is not null as ended, e.id, e.event,
              case when e.event = any($4) then e.data end as data
            from runs cross join lateral (
              select id, event, data from run_events
              where run_id = runs.run_id and id > case when runs.sequence = $2 then $3::bigint else -1 end and not at_end
              order by id limit ${maxRead.events}
            ) e
            where runs.thread_id = $1 and runs.thread_stream and runs.sequence >= $2 and ${upToFirstUnfinished}
            order by runs.sequence, e.id limit ${maxRead.events}
          ) page
        ) sized
        where before < ${maxRead.bytes} order by sequence, id`,
      values: [threadId, sequence, id, names],
    });
    return rows.map((row) => ({
      runId: row.run_id,
      sequence: Number(row.sequence),
      attempt: row.attempt,
      hasEnded: row.ended,
      id: Number(row.id),
      event: row.event,
      json: row.data,
    }));
  },

  /** Those of the threads with an unfinished run of another process, or a run that ended after a time (ms). */
  async withNews(threadIds: readonly string[], endedAfter: number): Promise<string[]> {
    const { rows } = await storage.pool.query<{ thread_id: string }>({
      name: 'threads-with-news',
      text: `
        select thread_id from runs
        where thread_id = any($1::uuid[]) and thread_stream and ended_at is null and process_id is distinct from $2
        union
        select thread_id from runs where thread_id = any($1::uuid[]) and thread_stream and ended_at > $3`,
      values: [threadIds, processId, new Date(endedAfter)],
    });
    return rows.map(({ thread_id }) => thread_id);
  },

  /** The number of the last event of a thread; 0 if there is none. */
  async lastSeq(threadId: string): Promise<number> {
    const { rows } = await storage.pool.query<{ sequence: string; id: string }>(
      `select runs.sequence, e.id from runs cross join lateral (
         select id from run_events where run_id = runs.run_id and not at_end order by id desc limit 1
       ) e
       where runs.thread_id = $1 and runs.thread_stream and ${upToFirstUnfinished}
       order by runs.sequence desc limit 1`,
      [threadId],
    );
    const [last] = rows;
    return last ? seqOf({ sequence: Number(last.sequence), id: Number(last.id) }) : 0;
  },

  /** The last status of a run, by default the latest that has started, and of each of its subgraphs. */
  async statuses(threadId: string, runId: string | undefined): Promise<NamespaceStatus[]> {
    const { rows } = await storage.pool.query<{ data: string }>(
      `with run as (
         select run_id from runs
         where thread_id = $1 and thread_stream and ($2::uuid is null or run_id = $2)
           and exists (select from run_events where run_id = runs.run_id and event = $3)
         order by sequence desc limit 1
       )
       select data from run_events join run using (run_id) where event = $3 and not at_end order by id`,
      [threadId, runId ?? null, lifecycleEvent],
    );
    const statuses = new Map<string, NamespaceStatus>();
    for (const { data } of rows) {
      const params = threadEventParams.safeParse(fromJson(data));
      const lifecycle = params.success ? lifecycleData.safeParse(params.data.data) : undefined;
      if (!params.success || !lifecycle?.success) continue;
      const { namespace } = params.data;
      const key = JSON.stringify(namespace);
      const graphName = lifecycle.data.graph_name ?? statuses.get(key)?.graphName;
      statuses.set(key, { namespace, status: lifecycle.data.event, graphName });
    }
    return [...statuses.values()];
  },
});
export type ThreadEventStore = ReturnType<typeof threadEventStore>;
