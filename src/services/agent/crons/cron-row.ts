import type { ColumnType, Selectable } from 'kysely';
import { storedCronFields, type Cron, type CronPayload, type CronRun } from '../../../contract/agent/cron.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { RunCreate } from '../../../contract/agent/run.ts';
import type { StoredRun } from '../runs/run-row.ts';
import type { Timing } from './due.ts';

type Time = ColumnType<Date, Date, Date>;
type MaybeTime = ColumnType<Date | null, Date | null, Date | null>;

export interface CronsTable {
  cron_id: string;
  assistant_id: string;
  /** Null if each run gets its own thread. */
  thread_id: string | null;
  schedule: string;
  timezone: string | null;
  end_time: MaybeTime;
  enabled: boolean;
  /** Null if no run is due. The process that advances it writes the run. */
  next_run_date: MaybeTime;
  /** What happens to each run's own thread; null if all runs share one. */
  on_run_completed: 'delete' | 'keep' | null;
  payload: ColumnType<CronPayload, string, string>;
  metadata: ColumnType<FreeObject, string, string>;
  user_id: string | null;
  created_at: Time;
  /** The last change by a request; runs do not count. */
  updated_at: Time;
}

/** The columns of a cron for a prepared statement, as in `runs/run-row.ts`. */
export const storedCron = storedCronFields.join(', ');

export type StoredCron = Pick<Selectable<CronsTable>, (typeof storedCronFields)[number]>;

/** Serializes a cron for the API. */
export function showCron(cron: StoredCron): Cron {
  return {
    cron_id: cron.cron_id,
    assistant_id: cron.assistant_id,
    thread_id: cron.thread_id,
    schedule: cron.schedule,
    timezone: cron.timezone,
    end_time: cron.end_time?.toISOString() ?? null,
    enabled: cron.enabled,
    on_run_completed: cron.on_run_completed,
    created_at: cron.created_at.toISOString(),
    updated_at: cron.updated_at.toISOString(),
    next_run_date: cron.next_run_date?.toISOString() ?? null,
    payload: { assistant_id: cron.assistant_id, ...cron.payload, metadata: cron.metadata },
    metadata: cron.metadata,
    user_id: cron.user_id,
  };
}

/** A run of a cron. */
export type StoredCronRun = Pick<
  StoredRun,
  'run_id' | 'status' | 'error' | 'created_at' | 'started_at' | 'ended_at'
> & {
  /** Null if its thread is not kept. */
  thread_id: string | null;
};

/** Serializes a run of a cron for the API. */
export const showCronRun = (run: StoredCronRun): CronRun => ({
  run_id: run.run_id,
  thread_id: run.thread_id,
  status: run.status,
  error: run.error,
  created_at: run.created_at.toISOString(),
  run_started_at: run.started_at?.toISOString() ?? null,
  run_ended_at: run.ended_at?.toISOString() ?? null,
});

/** The run that a cron starts, with the cron's id in its metadata. */
export function runOf(cron: StoredCron): RunCreate {
  return {
    ...cron.payload,
    assistant_id: cron.assistant_id,
    metadata: { ...cron.metadata, cron_id: cron.cron_id },
    ...(cron.on_run_completed === null ? {} : { on_completion: cron.on_run_completed }),
  };
}

export const timingOf = ({ schedule, timezone, end_time }: StoredCron): Timing => ({
  schedule,
  timezone,
  end: end_time?.getTime(),
});
