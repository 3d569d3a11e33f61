import { sql } from 'kysely';
import type { Clock } from '../../../kit/clock.ts';
import { applicationName, type Storage } from '../storage/open.ts';
import type { Hold } from './hold.ts';
import { storedRun, type StoredRun } from './run-row.ts';

/** Why a process may take another's run. `lost`: the run names this process, which does not know it. */
export type ClaimReason = 'released' | 'lost' | 'lease-over' | 'no-connection' | 'waits-for-a-slot';

/** An unfinished run that a process may take. */
export interface ClaimableRun extends StoredRun {
  /** Another process follows its events. */
  watched: boolean;
  because: ClaimReason;
  /** It was created at a revision that was held and is not this one, and the hold is over. */
  held_no_longer: boolean;
}

export interface ClaimQuery {
  inHand: readonly string[];
  hasRoom: boolean;
  graphs: readonly string[];
  limit: number;
}

export type RunProgress = Pick<StoredRun, 'run_id' | 'process_id' | 'status' | 'error'>;

/** How long (ms) a run waits for a slot of its process before another one may take it. */
const maxWaitMs = 1000;

/**
 * Assigns runs to processes. The runs' own rows are the queue: every change of ownership is one statement that names
 * the previous owner, so only one process succeeds. Leases are measured by the database's clock.
 */
export const runQueue = (
  storage: Storage,
  processId: string,
  clock: Clock,
  hold: Pick<Hold, 'revisionId' | 'isHeld'> = { revisionId: null, isHeld: false },
) => ({
  processId,

  /** The runs of this process that other processes ask to end, or follow (`watched`). */
  async requests(): Promise<Pick<ClaimableRun, 'run_id' | 'cancel_action' | 'watched'>[]> {
    const query = storage.db.selectFrom('runs').select(['run_id', 'cancel_action', 'watched']);
    return query
      .where('ended_at', 'is', null)
      .where('status', 'in', ['pending', 'running'])
      .where('process_id', '=', this.processId)
      .where((at) => at.or([at('cancel_action', 'is not', null), at('watched', '=', true)]))
      .execute();
  },

  /**
   * Unfinished runs that this process may take, in order: orphaned ones, and with free slots, those due whose process
   * has none. A held process may take its revision's only, which others may take once the hold is over.
   */
  async claimable({ inHand, hasRoom, graphs, limit }: ClaimQuery): Promise<ClaimableRun[]> {
    const waitsSince = new Date(clock.now() - maxWaitMs);
    const { rows } = await storage.pool.query<ClaimableRun>({
      name: 'takeable-runs',
      text: `
        with living as materialized (
          select application_name from pg_stat_activity where datname = current_database() and application_name is not null
        ), unfinished as (
          select ${storedRun}, runs.watched, held_by is not null and held_by is distinct from $8::text as held_no_longer, case
            when process_id is null then 'released'
            when process_id = $1 then 'lost'
            when lease_until < clock_timestamp() then 'lease-over'
            when $2::text || process_id::text not in (select application_name from living) then 'no-connection'
            when $4::boolean and status = 'pending' and detached and cancel_action is null and start_after is null and updated_at < $5::timestamptz
              and graph_id = any($6::text[]) and not exists (
                select from runs earlier
                where earlier.thread_id = runs.thread_id and earlier.sequence < runs.sequence and earlier.ended_at is null
                  and (earlier.status = 'running' or earlier.status = 'pending' and earlier.start_after is null)
              ) then 'waits-for-a-slot'
            end as because
          from runs left join processes using (process_id)
          where status in ('pending', 'running') and ended_at is null
            and run_id not in (select unnest($3::uuid[]))
            and case
              when $9::boolean then held_by is not distinct from $8::text
              else held_by is null or held_by = $8::text
                or not exists (select from holds where revision_id = held_by and until > clock_timestamp())
              end
        )
        select * from unfinished where because is not null order by sequence limit $7`,
      values: [
        this.processId,
        applicationName(''),
        inHand,
        hasRoom,
        waitsSince,
        graphs,
        limit,
        hold.revisionId,
        hold.isHeld,
      ],
    });
    return rows;
  },

  /** Takes a run, `toGoOn` as the next attempt; false if it has changed hands or progressed meanwhile. */
  async takeUp(run: Pick<StoredRun, 'run_id' | 'process_id' | 'status'>, toGoOn: boolean): Promise<boolean> {
    const again = { attempt: sql<number>`attempt + (status = 'running')::integer`, status: 'pending' } as const;
    const { numUpdatedRows } = await storage.db
      .updateTable('runs')
      .set({ process_id: this.processId, updated_at: new Date(clock.now()), ...(toGoOn ? again : {}) })
      .where('run_id', '=', run.run_id)
      .where(sql<boolean>`process_id is not distinct from ${run.process_id}::uuid`)
      .where('status', '=', run.status)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  },

  /** Releases a run of this process for the next one. */
  async release(runId: string): Promise<void> {
    const query = storage.db.updateTable('runs').set({ process_id: null });
    await query.where('run_id', '=', runId).where('process_id', '=', this.processId).execute();
  },

  /**
   * Moves a delayed run of this process to the end of its thread's queue, under the thread's lock. @returns its
   * position; undefined if this process no longer has it.
   */
  async comeDue(runId: string): Promise<number | undefined> {
    const { rows } = await storage.pool.query<{ sequence: string }>({
      name: 'come-due',
      text: `
        with thread as (
          select thread_id from threads where thread_id = (select thread_id from runs where run_id = $1) for update
        )
        update runs set sequence = default, start_after = null, updated_at = $3
        where run_id = $1 and process_id = $2 and status = 'pending'
          and (temporary or thread_id in (select thread_id from thread))
        returning sequence`,
      values: [runId, this.processId, new Date(clock.now())],
    });
    const [row] = rows;
    return row && Number(row.sequence);
  },

  /** The owners and statuses of these runs, without deleted ones. */
  async progressOf(runIds: readonly string[]): Promise<RunProgress[]> {
    if (runIds.length === 0) return [];
    const query = storage.db.selectFrom('runs').select(['run_id', 'process_id', 'status', 'error']);
    return query.where('run_id', 'in', runIds).execute();
  },

  /** Requests the events of an unfinished run; its process stores them from its next poll on. */
  async askForEvents(runId: string): Promise<void> {
    const query = storage.db.updateTable('runs').set({ watched: true }).where('run_id', '=', runId);
    await query.where('status', 'in', ['pending', 'running']).where('watched', '=', false).execute();
  },

  /** Those of these runs that other processes have taken. */
  async takenAway(runIds: readonly string[]): Promise<string[]> {
    const runs = await this.progressOf(runIds);
    return runs.flatMap(({ run_id, process_id }) => (process_id === this.processId ? [] : [run_id]));
  },

  /**
   * Extends the lease of this process, shortens leases that end much later, after the clock was set back, and deletes
   * processes gone for an hour. @returns whether the lease had expired before.
   */
  async extendLease(ms: number): Promise<boolean> {
    const { rows } = await storage.pool.query<{ lapsed: boolean | null }>({
      name: 'extend-lease',
      text: `
        with gone as (
          delete from processes where process_id in (
            select process_id from processes where lease_until < clock_timestamp() - interval '1 hour' and process_id <> $1
            for update skip locked
          )
        ), shortened as (
          update processes set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
          where process_id in (
            select process_id from processes
            where lease_until > clock_timestamp() + ($2 + 60000) * interval '1 millisecond' and process_id <> $1
            for update skip locked
          )
        )
        insert into processes (process_id, lease_until)
        values ($1, clock_timestamp() + $2 * interval '1 millisecond')
        on conflict (process_id) do update set lease_until = excluded.lease_until
        returning (select former.lease_until < clock_timestamp() from processes former where former.process_id = $1) as lapsed`,
      values: [this.processId, ms],
    });
    return rows[0]?.lapsed === true;
  },

  async endLease(): Promise<void> {
    await storage.db.deleteFrom('processes').where('process_id', '=', this.processId).execute();
  },
});
export type RunQueue = ReturnType<typeof runQueue>;
