import type { Clock } from '../../../clock.ts';
import { lifecycleData, threadEventParams } from '../../../contract/agent/thread-stream.ts';
import { fromJson } from '../../../contract/json-text.ts';
import type { StoredEvent } from '../../runs/run-events.ts';
import { lifecycleEvent } from '../../runs/thread-event-stream.ts';
import type { Storage } from '../../storage/open.ts';
import { seqOf, type ThreadCursor } from './event.ts';

/** A stored event with the run that it is of. */
export interface StoredThreadEvent extends StoredEvent {
  runId: string;
  sequence: number;
  /** The current attempt of the run. */
  attempt: number;
  hasEnded: boolean;
}

/** The status of a run or of a subgraph, by its last lifecycle event. */
export interface NamespaceStatus {
  namespace: string[];
  status: string;
  graphName: string | undefined;
}

/** The page limits. At least one event is read. */
const mostRead = { events: 200, bytes: 16 * 1024 * 1024 };
/** How long (ms) after its end the events of another process's run are looked for. */
const endedWithinMs = 5_000;

/** The runs that emit events of the thread-stream protocol. */
const ofThreadStream = `runs.kwargs ->> 'thread_stream' = 'true'`;

/** The stored events of threads. */
export class ThreadEventStore {
  readonly #storage: Storage;
  readonly #processId: string;
  readonly #clock: Clock;

  constructor(storage: Storage, processId: string, clock: Clock) {
    this.#storage = storage;
    this.#processId = processId;
    this.#clock = clock;
  }

  /** The next events after a place, in order: one page. */
  async after(threadId: string, { sequence, id }: ThreadCursor): Promise<StoredThreadEvent[]> {
    const { rows } = await this.#storage.pool.query<{
      run_id: string;
      sequence: string;
      attempt: number;
      ended: boolean;
      id: string;
      event: string;
      data: string;
    }>({
      name: 'thread-events-after',
      text: `
        select run_id, sequence, attempt, ended, id, event, data from (
          select *, sum(octet_length(data)) over (order by sequence, id) - octet_length(data) as before from (
            select runs.run_id, runs.sequence, runs.attempt, runs.ended_at is not null as ended, e.id, e.event, e.data
            from runs join run_events e on e.run_id = runs.run_id
            where runs.thread_id = $1 and runs.sequence >= $2 and (runs.sequence > $2 or e.id > $3)
              and ${ofThreadStream} and not e.at_end
            order by runs.sequence, e.id limit ${mostRead.events}
          ) page
        ) sized
        where before < ${mostRead.bytes} order by sequence, id`,
      values: [threadId, sequence, id],
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
  }

  /** Those of the threads with an unfinished run of another process, or with one that has just ended anywhere. */
  async withRemoteRuns(threadIds: readonly string[]): Promise<string[]> {
    const { rows } = await this.#storage.pool.query<{ thread_id: string }>({
      name: 'threads-with-remote-runs',
      text: `
        select distinct thread_id from runs
        where thread_id = any($1::uuid[]) and ${ofThreadStream}
          and (ended_at > $3 or ended_at is null and process_id is distinct from $2)`,
      values: [threadIds, this.#processId, new Date(this.#clock.now() - endedWithinMs)],
    });
    return rows.map(({ thread_id }) => thread_id);
  }

  /** The number of the last event of a thread; 0 if there is none. */
  async lastSeq(threadId: string): Promise<number> {
    const { rows } = await this.#storage.pool.query<{ sequence: string; id: string }>(
      `select runs.sequence, e.id from runs join run_events e on e.run_id = runs.run_id
       where runs.thread_id = $1 and ${ofThreadStream} and not e.at_end order by runs.sequence desc, e.id desc limit 1`,
      [threadId],
    );
    const [last] = rows;
    return last ? seqOf({ sequence: Number(last.sequence), id: Number(last.id) }) : 0;
  }

  /** The last status of a run, by default the latest, and of each of its subgraphs. */
  async statuses(threadId: string, runId: string | undefined): Promise<NamespaceStatus[]> {
    const { rows } = await this.#storage.pool.query<{ data: string }>(
      `with run as (
         select run_id from runs where thread_id = $1 and ($2::uuid is null or run_id = $2) and ${ofThreadStream}
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
  }
}
