import { cronPayload, type CronPayload, type CronCreate, type CronPatch } from '../../../contract/agent/cron.ts';
import { claimsIn, withoutClaims } from '../auth/caller.ts';
import { timingOf, type StoredCron } from './cron-row.ts';
import { nextRun } from './due.ts';
import { scheduleProblem } from '../../../kit/cron-schedule.ts';

const payloadPart = cronPayload.strip();

export type CronRequestResult<T> = { ok: true; cron: T } | { ok: false; field: string; reason: string };

export interface CronOrder {
  cronId: string;
  assistantId: string;
  /** Undefined if each run gets its own thread. */
  threadId: string | undefined;
  /** The creator, if the agent has authorization rules. */
  userId: string | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

export function newCron(
  request: CronCreate,
  { cronId, assistantId, threadId, userId, now }: CronOrder,
): CronRequestResult<StoredCron> {
  const cron: StoredCron = {
    cron_id: cronId,
    assistant_id: assistantId,
    thread_id: threadId ?? null,
    schedule: request.schedule,
    timezone: request.timezone ?? null,
    end_time: request.end_time === undefined ? null : timeOf(request.end_time),
    enabled: request.enabled ?? true,
    next_run_date: null,
    on_run_completed: threadId === undefined ? (request.on_run_completed ?? 'delete') : null,
    payload: payloadPart.parse(request),
    metadata: request.metadata ?? {},
    user_id: userId ?? null,
    created_at: new Date(now),
    updated_at: new Date(now),
  };
  const problem = problemOf(cron, request, now);
  return problem ?? { ok: true, cron: { ...cron, next_run_date: dateOf(cron, now) } };
}

/** A changed cron; `next` is undefined if the time of its next run stays. */
export interface CronChange {
  cron: StoredCron;
  next: Date | null | undefined;
}

/**
 * Applies a request to change a cron. The next run is computed again from `now` (ms since the epoch) if its times
 * changed; runs missed while it was disabled are not made up for.
 */
export function applyCronPatch(read: StoredCron, patch: CronPatch, now: number): CronRequestResult<CronChange> {
  const cron: StoredCron = {
    ...read,
    schedule: patch.schedule ?? read.schedule,
    timezone: patch.timezone ?? read.timezone,
    end_time: patch.end_time === undefined ? read.end_time : patch.end_time === null ? null : timeOf(patch.end_time),
    enabled: patch.enabled ?? read.enabled,
    on_run_completed: read.thread_id === null ? (patch.on_run_completed ?? read.on_run_completed) : null,
    payload: { ...read.payload, ...payloadPart.parse(patch), ...configOf(read, patch) },
    metadata: { ...read.metadata, ...patch.metadata },
    // Every change has its own time, by which `replace` detects concurrent changes.
    updated_at: new Date(Math.max(now, read.updated_at.getTime() + 1)),
  };
  const problem = problemOf(cron, patch, now);
  return problem ?? { ok: true, cron: { cron, next: nextAfterChange(read, cron, now) } };
}

/** The configuration of a changed cron, which keeps naming the cron's creator. */
function configOf({ payload }: StoredCron, { config }: CronPatch): Pick<CronPayload, 'config'> {
  if (config === undefined) return {};
  const made = payload.config?.configurable ?? {};
  const configurable = { ...withoutClaims(config.configurable ?? {}), ...claimsIn(made) };
  return { config: { ...config, configurable } };
}

/** Whether a change affects the request of the runs. */
export const changesPayload = (patch: CronPatch): boolean => Object.keys(payloadPart.parse(patch)).length > 0;

function problemOf(
  cron: StoredCron,
  requested: Pick<CronPatch, 'schedule' | 'timezone' | 'end_time' | 'on_run_completed'>,
  now: number,
): { ok: false; field: string; reason: string } | undefined {
  const wrong =
    requested.schedule === undefined && requested.timezone === undefined ? undefined : scheduleProblem(cron);
  if (wrong) return { ok: false, ...wrong };
  if (requested.end_time != null && timeOf(requested.end_time).getTime() <= now)
    return { ok: false, field: 'end_time', reason: `is over: it is ${new Date(now).toISOString()} already.` };
  if (cron.thread_id !== null && requested.on_run_completed === 'delete')
    return { ok: false, field: 'on_run_completed', reason: 'a cron of a thread keeps its thread.' };
  return undefined;
}

function nextAfterChange(read: StoredCron, cron: StoredCron, now: number): Date | null | undefined {
  const isOther = cron.schedule !== read.schedule || cron.timezone !== read.timezone || cron.enabled !== read.enabled;
  const isSameEnd = cron.end_time?.getTime() === read.end_time?.getTime();
  if (!isOther && isSameEnd) return undefined;
  if (isOther || read.next_run_date === null) return dateOf(cron, now);
  return cron.end_time !== null && read.next_run_date > cron.end_time ? null : undefined;
}

function dateOf(cron: StoredCron, now: number): Date | null {
  const next = cron.enabled ? nextRun(timingOf(cron), now) : undefined;
  return next === undefined ? null : new Date(next);
}

/** A time without an offset is UTC. */
const timeOf = (text: string): Date => new Date(/(?:z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
