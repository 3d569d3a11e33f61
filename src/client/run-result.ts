import { fromJson } from '../contract/json-text.ts';
import { isObject } from '../contract/json-object.ts';
import { ERROR_KEY, type RunResult } from '../contract/agent/run.ts';
import { notJson, unreadable } from './attempt-failure.ts';
import type { Reader } from './reading.ts';

interface Failure {
  error: string;
  message: string;
}

/**
 * Parses the response of `/wait` and `/join`, after the newlines that kept the connection alive. A failed run also has
 * status 200, with the error under `__error__`.
 */
export const readRunResult: Reader<RunResult> = ({ status, headers, body }) => {
  const text = body.toString('utf8').trim();
  const value = fromJson(text);
  if (value === undefined) return { ok: false, failure: unreadable(status, notJson(text, headers), true) };
  if (!isObject(value) || !(ERROR_KEY in value)) return { ok: true, value: { kind: 'values', values: value } };
  return { ok: true, value: { kind: 'error', error: innermost(readFailure(value[ERROR_KEY])) } };
};

/** Parses a failure of any shape: an unknown shape must not hide that the run failed. */
function readFailure(shown: unknown): Failure {
  const { error, message } = isObject(shown) ? shown : { error: undefined, message: shown };
  return {
    error: typeof error === 'string' ? error : 'Error',
    message: typeof message === 'string' ? message : JSON.stringify(shown),
  };
}

/** Unwraps an error of a public server's stream, whose message is the real error as JSON. */
function innermost(outer: Failure): Failure {
  const inner = fromJson(outer.message);
  if (!isObject(inner)) return outer;
  const { error, message, ...rest } = inner;
  const wrapped = typeof error === 'string' && typeof message === 'string' && Object.keys(rest).length === 0;
  return wrapped ? { error, message } : outer;
}
