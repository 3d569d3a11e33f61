import type * as z from 'zod';
import { fromJson } from '../kit/json-text.ts';
import { describeNonJson, unreadable, type AttemptFailure } from './attempt-failure.ts';
import type { HttpReply } from './http.ts';
import { isObject } from '../kit/json-object.ts';
import { errorKey, toRunError, type RunError, type RunResult } from '../contract/agent/run.ts';

/** A parsed success, or why it can't be parsed. */
export type ReadResult<T> = { ok: true; value: T } | { ok: false; failure: AttemptFailure };
/** Parses a success. */
export type Reader<T> = (reply: HttpReply) => ReadResult<T>;

/** Parses a JSON body by a schema of the contract. `prepare` may rename its fields first. */
export function readJson<T>(schema: z.ZodType<T>, prepare: (json: unknown) => unknown = (json) => json): Reader<T> {
  return ({ status, headers, body }) => {
    const text = body.toString('utf8');
    const json = fromJson(text);
    if (json === undefined) return { ok: false, failure: unreadable(status, describeNonJson(text, headers), true) };
    const result = schema.safeParse(prepare(json));
    if (result.success) return { ok: true, value: result.data };
    const detail = `the answer is not what the documents describe: ${problemsIn(result.error)}`;
    return { ok: false, failure: unreadable(status, detail, false) };
  };
}

/** Ignores the body of a response. */
export const readNothing: Reader<void> = () => ({ ok: true, value: undefined });

/**
 * Validates a request by the contract.
 *
 * @throws Error that names the field: an invalid request is a programming error.
 */
export function validRequest<T>(schema: z.ZodType<T>, operation: string, request: unknown): T {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  throw new Error(`${operation}: the request does not keep the contract: ${problemsIn(result.error)}`);
}

/** Describes a text with too many values. */
export const tooManyValues = (subject: string, max: number): string => `${subject} holds more than ${max} values`;

/** The invalid fields; zod's messages do not repeat the value. */
function problemsIn({ issues }: z.ZodError): string {
  const shown = issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  return `${shown.join('; ')}${issues.length > shown.length ? `; and ${issues.length - shown.length} more` : ''}`;
}

/**
 * Parses the response of `/wait` and `/join`, after the newlines that kept the connection alive. A failed run also has
 * status 200, with the error under `__error__`.
 */
export const readRunResult: Reader<RunResult> = ({ status, headers, body }) => {
  const text = body.toString('utf8').trim();
  const value = fromJson(text);
  if (value === undefined) return { ok: false, failure: unreadable(status, describeNonJson(text, headers), true) };
  if (!isObject(value) || !(errorKey in value)) return { ok: true, value: { kind: 'values', values: value } };
  return { ok: true, value: { kind: 'error', error: innermost(toRunError(value[errorKey])) } };
};

/** Unwraps an error of a public server's stream, whose message is the real error as JSON. */
function innermost(outer: RunError): RunError {
  const inner = fromJson(outer.message);
  if (!isObject(inner)) return outer;
  const { error, message, ...rest } = inner;
  const wrapped = typeof error === 'string' && typeof message === 'string' && Object.keys(rest).length === 0;
  return wrapped ? { error, message } : outer;
}
