import type { FieldProblem, ServiceErrorKind } from '../contract/service-error.ts';
import { header, type HttpReply, type ReplyHeaders } from './http.ts';
import { maskStart, type Mask } from '../contract/masking/mask.ts';
import type { SendFailure } from './send-failure.ts';
import { fromJson } from '../kit/json-text.ts';
import { isObject } from '../kit/json-object.ts';

/** The failure of one attempt, for the error message and the retry decision. */
export interface AttemptFailure {
  kind: ServiceErrorKind;
  /** Whether a write of this attempt may have taken effect; meaningless for a read. */
  effect: 'none' | 'unknown';
  /** Whether a retry may succeed. */
  isTransient: boolean;
  status?: number | undefined;
  detail?: string | undefined;
  problems?: readonly FieldProblem[];
  retryAfterMs?: number | undefined;
}

const kindByStatus: Readonly<Record<number, ServiceErrorKind>> = {
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
  return kindByStatus[status] ?? (status >= 500 ? 'busy' : 'rejected');
}

/**
 * Whether a write with this status may have taken effect. A 4xx is a refusal, except 408: a timeout in the middle.
 * Every 5xx is unknown, also a 503 with `Retry-After`: gateways send it when the service behind them fails in the
 * middle. 501, 307 and 308 precede any effect.
 */
export function effectOfStatus(status: number): 'none' | 'unknown' {
  if (status === 501 || status === 307 || status === 308) return 'none';
  return status >= 400 && status < 500 && status !== 408 ? 'none' : 'unknown';
}

const isTransientStatus = (status: number): boolean =>
  status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501);

/** The longest error detail (characters). */
export const maxDetailLength = 2_000;
/** How many characters of a text are masked: more than are shown, because collapsing white space shortens it. */
const maxMaskedLength = 4 * maxDetailLength;

/** A longer error response (bytes) is not parsed; only its start is shown. */
const maxParsedBytes = 32 * 1024;

const maskedStart = (body: Buffer, mask: Mask): string =>
  body.length > maxParsedBytes
    ? maskStart(mask, body.toString('utf8', 0, maxParsedBytes).trimStart(), maxMaskedLength)
    : body.toString('utf8');

/** Describes an error response. */
export function failureOfReply({ status, headers, body }: HttpReply, mask: Mask, now: number): AttemptFailure {
  const failure = {
    kind: kindOfStatus(status),
    effect: effectOfStatus(status),
    isTransient: isTransientStatus(status),
    status,
  };
  if (status < 400) return { ...failure, detail: cleanDetail(describeRedirect(headers), mask) };
  const retryAfterMs = readRetryAfter(header(headers, 'retry-after'), header(headers, 'date'), now);
  return { ...failure, ...readErrorBody(maskedStart(body, mask), mask), retryAfterMs };
}

function describeRedirect(headers: ReplyHeaders): string {
  const location = header(headers, 'location');
  if (!location) return 'this is no answer that the documents describe';
  const target = URL.canParse(location) ? new URL(location) : undefined;
  const destination = target ? `${target.protocol}//${target.host}${target.pathname}` : location.split(/[?#]/, 1)[0];
  return `it points to ${destination}, and no redirect is followed with a key: if that is the service, give its address`;
}

const kindByReason: Readonly<Record<SendFailure['reason'], ServiceErrorKind>> = {
  timeout: 'unreachable',
  silent: 'unreachable',
  unreachable: 'unreachable',
  untrusted: 'unreachable',
  cut: 'unreadable',
  garbled: 'unreadable',
  'too-large': 'unreadable',
};

/** Describes a request without a complete response. */
export function failureOfSend({ reason, sent, status, detail }: SendFailure, mask: Mask): AttemptFailure {
  return {
    kind: kindByReason[reason],
    effect: sent ? 'unknown' : 'none',
    isTransient: reason !== 'untrusted' && reason !== 'too-large',
    status,
    detail: cleanDetail(detail, mask),
  };
}

/**
 * Describes a success that can't be parsed. Never includes the body, which may contain secrets. A body that is not JSON
 * may come from a proxy, so a retry can help; a retry does not help with JSON of a wrong shape.
 */
export function unreadable(status: number, problem: string, isTransient: boolean): AttemptFailure {
  return { kind: 'unreadable', effect: 'unknown', isTransient, status, detail: problem };
}

/** Describes a body that is not JSON, without showing it. */
export function describeNonJson(text: string, headers: ReplyHeaders): string {
  const type = header(headers, 'content-type') ?? 'no content type';
  if (text.trim() === '') return 'the answer is empty where JSON was expected';
  const kind = looksLikeHtml(text) ? 'a web page' : 'not JSON';
  return `the answer is ${kind} (${cleanDetail(type, (words) => words)}, ${text.length} characters)`;
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
  const value = retryAfter?.trim();
  if (!value) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.min(Math.ceil(Number(value) * 1000), Number.MAX_SAFE_INTEGER);
  const until = Date.parse(value);
  if (Number.isNaN(until) || !/[a-z]/i.test(value)) return undefined;
  const theirNow = Date.parse(date ?? '');
  return Math.max(0, until - (Number.isNaN(theirNow) ? now : theirNow));
}

const maxProblems = 50;

/**
 * Parses the body of an error response of any shape: `{detail: string}` and `{detail: [{loc, msg, type}]}`
 * (docs/design/contract.md#errors), plain text, Zod issues, common forms of `{error}` and `{message}`, the XML of an
 * object store, or a web page, of which the title is used. The result is masked and truncated.
 */
export function readErrorBody(body: string, mask: Mask): { detail?: string; problems: FieldProblem[] } {
  const parsed = fromJson(body);
  const content = parsed === undefined ? { detail: textDetail(body), problems: [] } : problemsIn(parsed);
  const detail = cleanDetail(content.detail ?? '', mask);
  const problems = content.problems.slice(0, maxProblems).map(({ loc, msg, type }) => ({
    loc: loc.map((place) => (typeof place === 'string' ? cleanDetail(place, mask) : place)),
    msg: cleanDetail(msg, mask),
    type: cleanDetail(type, mask),
  }));
  return detail === '' ? { problems } : { detail, problems };
}

/** Puts external text on one line, without control characters and secrets, and truncates it to `maxDetail`. */
function cleanDetail(text: string, mask: Mask): string {
  const line = maskStart(mask, text.trimStart(), maxMaskedLength)
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return text.length > maxMaskedLength || line.length > maxDetailLength
    ? `${line.slice(0, maxDetailLength - 1)}…`
    : line;
}

function problemsIn(body: unknown): { detail?: string | undefined; problems: FieldProblem[] } {
  if (typeof body === 'string') return { detail: body, problems: [] };
  if (!isObject(body)) return { problems: [] };
  const { detail, error, message } = body;
  if (Array.isArray(detail)) return { problems: detail.flatMap(problemOf) };
  const issues = isObject(error) ? zodIssues(error) : [];
  if (issues.length > 0) return { problems: issues };
  return { detail: [detail, message, error].map(messageIn).find((words) => words !== undefined), problems: [] };
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return undefined;
  return [value['message'], value['msg'], value['detail']].find((words) => typeof words === 'string');
}

function problemOf(entry: unknown): FieldProblem[] {
  if (typeof entry === 'string') return [{ loc: [], msg: entry, type: '' }];
  if (!isObject(entry) || typeof entry['msg'] !== 'string') return [];
  return [{ loc: fieldPathOf(entry['loc']), msg: entry['msg'], type: messageIn(entry['type']) ?? '' }];
}

/** The issues of a Zod error. For a union, those of its first branch, because they are more specific. */
function zodIssues(error: Record<string, unknown>): FieldProblem[] {
  const { issues } = error;
  if (!Array.isArray(issues)) return [];
  return issues.filter(isObject).flatMap((issue): FieldProblem[] => {
    const branches = issue['unionErrors'];
    const first = Array.isArray(branches) && isObject(branches[0]) ? zodIssues(branches[0]) : [];
    if (first.length > 0) return first;
    return [
      { loc: fieldPathOf(issue['path']), msg: messageIn(issue['message']) ?? '', type: messageIn(issue['code']) ?? '' },
    ];
  });
}

function fieldPathOf(loc: unknown): (string | number)[] {
  if (!Array.isArray(loc)) return [];
  return loc.filter((place): place is string | number => typeof place === 'string' || typeof place === 'number');
}

function textDetail(body: string): string {
  const storeError = storeErrorDetail(body);
  if (storeError !== '') return storeError;
  if (!looksLikeHtml(body)) return body;
  return /<title[^<>]*>([^<]*)<\/title>/i.exec(body)?.[1] ?? 'a web page';
}

/** The error of an object store in XML. Other elements are left out: they repeat the request and its signature. */
function storeErrorDetail(body: string): string {
  if (!/^\s*(?:<\?xml[^<>]*>\s*)?<Error(?:\s[^<>]*)?>/.test(body)) return '';
  const messages = ['Code', 'Message', 'Details'].flatMap((tag) => {
    const text = new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(body)?.[1]?.trim();
    return text ? [text.replace(/&(?:lt|gt|quot|apos|#39|amp);/g, (entity) => entities[entity] ?? entity)] : [];
  });
  return messages.join(': ') || 'an error of an object store';
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&amp;': '&',
};

/** Whether the body is a page of a web server, a proxy or a login instead of JSON. */
const looksLikeHtml = (body: string): boolean => /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body);
