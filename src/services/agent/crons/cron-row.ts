import type { Selectable } from 'kysely';
import { storedCronFields, type Cron, type CronRun } from '../../../contract/agent/cron.ts';
import type { RunCreate } from '../../../contract/agent/run.ts';
import type { CronsTable } from '../storage/tables.ts';
import type { StoredRun } from '../runs/run-row.ts';
import type { Timing } from './due.ts';

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
