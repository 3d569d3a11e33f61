import type { FieldProblem, ServiceErrorKind } from '../contract/service-error.ts';
import { looksLikeHtml, readErrorBody, tidy } from './error-body.ts';
import { header, type HttpReply, type ReplyHeaders } from './http.ts';
import type { Mask } from '../contract/mask.ts';
import type { SendFailure } from './send-failure.ts';

/** The failure of one attempt, for the error message and the retry decision. */
export interface AttemptFailure {
  kind: ServiceErrorKind;
  /** Whether a write of this attempt may have taken effect; meaningless for a read. */
  effect: 'none' | 'unknown';
  /** Whether a retry may succeed. */
  passing: boolean;
  status?: number | undefined;
  detail?: string | undefined;
  problems?: readonly FieldProblem[];
  retryAfterMs?: number | undefined;
}

const kinds: Readonly<Record<number, ServiceErrorKind>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'missing',
  405: 'missing',
  409: 'conflict',
  412: 'conflict',
  429: 'busy',
  501: 'missing',
};

/** The kind of an error status (`ServiceErrorKind`). Redirects are not part of the API. */
export function kindOfStatus(status: number): ServiceErrorKind {
  if (status < 400) return 'unreadable';
  return kinds[status] ?? (status >= 500 ? 'busy' : 'rejected');
}

/**
 * Whether a write with this status may have taken effect. A 4xx is a refusal, except 408: a timeout in the middle. Every
 * 5xx is unknown, also a 503 with `Retry-After`: gateways send it when the service behind them fails in the middle. 501,
 * 307 and 308 precede any effect.
 */
export function effectOfStatus(status: number): 'none' | 'unknown' {
  if (status === 501 || status === 307 || status === 308) return 'none';
  return status >= 400 && status < 500 && status !== 408 ? 'none' : 'unknown';
}

const isPassing = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501);

/** What is read of an error response (bytes). */
const mostOfError = 32 * 1024;

const startOf = (body: Buffer, mask: Mask): string =>
  body.length > mostOfError
    ? mask(body.subarray(0, mostOfError).toString('utf8'), { cut: true })
    : body.toString('utf8');

/** Describes an error response. */
export function failureOfReply({ status, headers, body }: HttpReply, mask: Mask, now: number): AttemptFailure {
  const shown = { kind: kindOfStatus(status), effect: effectOfStatus(status), passing: isPassing(status), status };
  if (status < 400) return { ...shown, detail: tidy(redirectWords(headers), mask) };
  const retryAfterMs = readRetryAfter(header(headers, 'retry-after'), header(headers, 'date'), now);
  return { ...shown, ...readErrorBody(startOf(body, mask), mask), retryAfterMs };
}

function redirectWords(headers: ReplyHeaders): string {
  const location = header(headers, 'location');
  if (!location) return 'this is no answer that the documents describe';
  const target = URL.canParse(location) ? new URL(location) : undefined;
  const pointed = target ? `${target.protocol}//${target.host}${target.pathname}` : location.split(/[?#]/, 1)[0];
  return `it points to ${pointed}, and no redirect is followed with a key: if that is the service, give its address`;
}

const kindOfReason: Readonly<Record<SendFailure['reason'], ServiceErrorKind>> = {
  timeout: 'unreachable',
  silent: 'unreachable',
  unreachable: 'unreachable',
  untrusted: 'unreachable',
  cut: 'unreadable',
  garbled: 'unreadable',
  'too-large': 'unreadable',
};

/** Describes a request without a complete response. */
export function failureOfSend({ reason, sent, status, words }: SendFailure, mask: Mask): AttemptFailure {
  return {
    kind: kindOfReason[reason],
    effect: sent ? 'unknown' : 'none',
    passing: reason !== 'untrusted' && reason !== 'too-large',
    status,
    detail: tidy(words, mask),
  };
}

/**
 * Describes a success that can't be parsed. Never includes the body, which may hold secrets. A body that is not JSON may
 * come from a proxy, so a retry can help; JSON of a wrong shape will not change.
 */
export function unreadable(status: number, problem: string, passing: boolean): AttemptFailure {
  return { kind: 'unreadable', effect: 'unknown', passing, status, detail: problem };
}

/** Describes a body that is not JSON, without showing it. */
export function notJson(text: string, headers: ReplyHeaders): string {
  const type = header(headers, 'content-type') ?? 'no content type';
  if (text.trim() === '') return 'the answer is empty where JSON was expected';
  const kind = looksLikeHtml(text) ? 'a web page' : 'not JSON';
  return `the answer is ${kind} (${tidy(type, (words) => words)}, ${text.length} characters)`;
}

/**
 * The delay (ms) of a `Retry-After` header, in seconds or as a date; undefined if absent. A date is relative to the
 * response's `Date` header if present: the clocks may differ.
 */
export function readRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): number | undefined {
  const written = retryAfter?.trim();
  if (!written) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(written)) return Math.min(Math.ceil(Number(written) * 1000), Number.MAX_SAFE_INTEGER);
  const until = Date.parse(written);
  if (Number.isNaN(until) || !/[a-z]/i.test(written)) return undefined;
  const theirNow = Date.parse(date ?? '');
  return Math.max(0, until - (Number.isNaN(theirNow) ? now : theirNow));
}
