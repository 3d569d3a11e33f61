import type * as z from 'zod';
import { notJson, unreadable, type AttemptFailure } from './attempt-failure.ts';
import type { HttpReply } from './http.ts';

/** What a success meant, or why it cannot be read. */
export type Readout<T> = { ok: true; value: T } | { ok: false; failure: AttemptFailure };
/** Makes a value of a success. */
export type Reader<T> = (reply: HttpReply) => Readout<T>;

/** Reads a JSON body by a schema of the contract. `prepare` may spell its fields first. */
export function readJson<T>(schema: z.ZodType<T>, prepare: (json: unknown) => unknown = (json) => json): Reader<T> {
  return ({ status, headers, body }) => {
    const text = body.toString('utf8');
    const parsed = parse(text);
    if (!parsed.ok) return { ok: false, failure: unreadable(status, notJson(text, headers), true) };
    const read = schema.safeParse(prepare(parsed.value));
    if (read.success) return { ok: true, value: read.data };
    const words = `the answer is not what the documents describe: ${problemsIn(read.error)}`;
    return { ok: false, failure: unreadable(status, words, false) };
  };
}

/** For an answer whose body says nothing. */
export const readNothing: Reader<void> = () => ({ ok: true, value: undefined });

/**
 * A request as the contract allows it. What does not fit is a mistake of our own, never the other party's: a plain
 * error that names the field.
 */
export function checked<T>(schema: z.ZodType<T>, operation: string, request: unknown): T {
  const read = schema.safeParse(request);
  if (read.success) return read.data;
  throw new Error(`${operation}: the request does not keep the contract: ${problemsIn(read.error)}`);
}

/** JSON, with white space around it or not. A body that is none becomes a value here. */
export function parse(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}

/** Where it is wrong and what was expected there; zod's messages do not repeat the value. */
function problemsIn({ issues }: z.ZodError): string {
  const shown = issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  return `${shown.join('; ')}${issues.length > shown.length ? `; and ${issues.length - shown.length} more` : ''}`;
}
