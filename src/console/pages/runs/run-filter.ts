import { isUuid } from '../../../kit/uuid.ts';
import { finalRunStatuses } from '../../../contract/agent/run.ts';

/** The filter of the runs, stored in the query of the page's address. */
export interface RunFilter {
  status: string;
  assistant: string;
  thread: string;
  /** A key of `timeRanges`, `custom`, or empty for any time. */
  time: string;
  /** The custom range in local time: `2026-11-26T10:00`. */
  from: string;
  until: string;
  /** A part of the error's text. */
  error: string;
}

const hourMs = 3_600_000;

/** The durations of the ranges. */
export const timeRanges: Readonly<Record<string, { label: string; ms: number }>> = {
  '1h': { label: 'Last hour', ms: hourMs },
  '24h': { label: 'Last 24 hours', ms: 24 * hourMs },
  '7d': { label: 'Last 7 days', ms: 7 * 24 * hourMs },
  '30d': { label: 'Last 30 days', ms: 30 * 24 * hourMs },
};

/** Reads the filter from the query of an address. */
export function readRunFilter(query: Readonly<Record<string, string | undefined>>): RunFilter {
  const { status = '', assistant = '', thread = '', time = '', from = '', until = '', error = '' } = query;
  return { status, assistant, thread, time, from, until, error };
}

/** Whether a filter has any condition. */
export const isFiltered = (filter: RunFilter): boolean => Object.values(filter).some((value) => value !== '');

/** The problems of a filter by field. */
export function runFilterProblems({ thread, time, from, until }: RunFilter): Partial<Record<keyof RunFilter, string>> {
  const range = time === 'custom' && isTime(from) && isTime(until) && Date.parse(from) >= Date.parse(until);
  return {
    ...(thread === '' || isUuid(thread.trim()) ? {} : { thread: 'Enter the whole id of a thread.' }),
    ...(range ? { until: 'Choose a time after the start.' } : {}),
  };
}

/** The query for the service. Invalid values are left out. */
export function toRunsQuery(filter: RunFilter, now: number): Record<string, string | undefined> {
  const { status, assistant, thread, time, from, until, error } = filter;
  const range = timeRanges[time];
  const isCustom = time === 'custom';
  return {
    status: finalRunStatuses.some((known) => known === status) ? status : undefined,
    assistant_id: assistant || undefined,
    thread_id: isUuid(thread.trim()) ? thread.trim() : undefined,
    from: range ? new Date(now - range.ms).toISOString() : isCustom ? toIso(from) : undefined,
    until: isCustom ? toIso(until) : undefined,
    query: error.trim().slice(0, 500) || undefined,
  };
}

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));
const toIso = (text: string): string | undefined => (isTime(text) ? new Date(text).toISOString() : undefined);
