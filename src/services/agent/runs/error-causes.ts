import type { ErrorCause } from '../../../contract/agent/run.ts';
import { memberOf } from '../members.ts';

const maxCauses = 10;
const maxNameLength = 200;
const maxWaitMs = 24 * 3_600_000;

/**
 * What is known of an error and its causes: types, and of providers' answers the HTTP status and the waiting time.
 * Without a cause and an answer, nothing. @param chain the error, then its causes.
 */
export function causesIn(chain: readonly unknown[], nameOf: (thrown: unknown) => string): ErrorCause[] {
  const all = chain.flatMap((thrown) => [thrown, ...(readable(() => attemptsOf(thrown)) ?? [])]);
  const causes = all.flatMap((thrown, place) => {
    const answer = { ...readable(() => statusOf(thrown)), ...readable(() => waitOf(thrown)) };
    const tells = Object.keys(answer).length > 0 || (place > 0 && thrown instanceof Error);
    return tells ? [{ error: nameOf(thrown).slice(0, maxNameLength), ...answer }] : [];
  });
  return causes.slice(0, maxCauses);
}

/** A fact of an error; undefined if its members, which are the agent's, throw: the error itself is known all the same. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** What an error of several attempts is made of, the newest last. */
function attemptsOf(thrown: unknown): unknown[] {
  if (!(thrown instanceof Error)) return [];
  const [attempts, last] = [memberOf(thrown, 'errors'), memberOf(thrown, 'lastError')];
  const several: unknown[] = Array.isArray(attempts) ? attempts.slice(0, maxCauses) : [];
  return last === undefined || several.includes(last) ? several : [...several, last];
}

function statusOf(thrown: unknown): { status?: number } {
  const [response, metadata] = [memberOf(thrown, 'response'), memberOf(thrown, '$metadata')];
  const places = [
    memberOf(thrown, 'status'),
    memberOf(thrown, 'statusCode'),
    memberOf(response, 'status'),
    memberOf(response, 'statusCode'),
    memberOf(metadata, 'httpStatusCode'),
  ];
  const status = places.find((each) => typeof each === 'number' && Number.isInteger(each) && each >= 100 && each < 600);
  return typeof status === 'number' ? { status } : {};
}

/** The waiting time in the headers of a response, wherever libraries keep them. */
function waitOf(thrown: unknown): { retry_after_ms?: number } {
  const places = [
    memberOf(thrown, 'headers'),
    memberOf(thrown, 'responseHeaders'),
    memberOf(memberOf(thrown, 'response'), 'headers'),
    memberOf(memberOf(thrown, 'rawResponse'), 'headers'),
    memberOf(memberOf(thrown, '$response'), 'headers'),
  ];
  for (const headers of places) {
    const ms = waitIn((name) => headerOf(headers, name));
    if (ms !== undefined) return { retry_after_ms: ms };
  }
  return {};
}

/** A header of a `Headers` object, or of a plain one in any case. */
function headerOf(headers: unknown, name: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const get: unknown = memberOf(headers, 'get');
  const value: unknown =
    typeof get === 'function'
      ? Reflect.apply(get, headers, [name])
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : undefined;
}

const decimal = /^\d{1,12}(?:\.\d{1,9})?$/;

/** `retry-after-ms`, else `retry-after`: seconds, or a date after the one of the response. */
function waitIn(header: (name: string) => string | undefined): number | undefined {
  const [ms, seconds] = [header('retry-after-ms'), header('retry-after')];
  if (ms !== undefined && decimal.test(ms)) return bounded(Number(ms));
  if (seconds === undefined) return undefined;
  if (decimal.test(seconds)) return bounded(Number(seconds) * 1_000);
  const until = Date.parse(seconds) - Date.parse(header('date') ?? '');
  return Number.isNaN(until) ? undefined : bounded(until);
}

const bounded = (ms: number): number => Math.min(Math.max(0, Math.ceil(ms)), maxWaitMs);
