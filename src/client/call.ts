import type { Readable } from 'node:stream';
import type { CallOptions } from '../contract/call-options.ts';
import { holdsMore } from '../kit/json-text.ts';
import { ServiceError } from '../contract/service-error.ts';
import { type AttemptFailure, failureOfReply, failureOfSend, unreadable } from './attempt-failure.ts';
import type { Connection } from './connection.ts';
import {
  header,
  type HttpReply,
  type HttpRequest,
  type HttpStream,
  openStream,
  send,
  type SendResult,
} from './http.ts';
import { strictMaskOf } from '../contract/masking/mask.ts';
import { type Reader, type ReadResult, tooManyValues } from './response-readers.ts';
import { decideRetry } from './retry.ts';

/** One operation of a service: its request, and its name for errors. */
export interface Operation {
  /** For people: `get deployment`. */
  name: string;
  method: HttpRequest['method'];
  /** Below the base address. */
  path: string;
  query?: string;
  headers?: Readonly<Record<string, string>>;
  /** The path in error messages, if the real one is a secret. */
  shown?: string;
  body?: unknown;
  /** A stream instead of a JSON body, created for every attempt; the headers have its type and length. */
  stream?: () => Readable;
  /** The requested content type; JSON by default. */
  accept?: string;
  /** The secrets in the body, which errors must not contain. */
  secrets?: readonly string[];
  /** Whether one redirect within the origin is followed: GitHub's API has them for repositories that were renamed. */
  redirects?: boolean;
  /** How long a refusal asks to wait (ms) that has no `Retry-After`: GitHub says when its limit resets. */
  waitOf?: (header: (name: string) => string | undefined, now: number) => number | undefined;
  /** Whether it only reads; true for every GET. */
  safe?: boolean;
  /** The timeout (ms) of one attempt; the connection's by default. */
  attemptTimeoutMs?: number;
  /** The timeout (ms) of all attempts without a deadline of the caller; the connection's by default. */
  callTimeoutMs?: number;
}

/** Sends an operation with safe retries, and parses its response. Every failure of the service is a `ServiceError`. */
export function call<T>(
  link: Connection,
  operation: Operation,
  read: Reader<T>,
  options: CallOptions = {},
): Promise<T> {
  return repeat(link, operation, options, async (timeoutMs) => {
    const limits = { timeoutMs, maxBodyBytes: link.maxBodyBytes, signal: options.signal };
    const request = requestOf(link, operation);
    const answered = await send(dispatcherOf(link), request, limits);
    const path = operation.redirects ? pathMovedTo(request, answered) : undefined;
    const sent = path === undefined ? answered : await send(dispatcherOf(link), { ...request, path }, limits);
    const isSuccess = sent.kind === 'reply' && sent.status >= 200 && sent.status < 300;
    return isSuccess ? readBounded(link, sent, read) : refused(link, operation, sent);
  });
}

/** Where a redirect within the origin points to. Of a write only 307 and 308 say that nothing was done. */
function pathMovedTo({ origin, method }: HttpRequest, sent: SendResult): string | undefined {
  if (sent.kind !== 'reply') return undefined;
  const isRedirect =
    sent.status === 307 || sent.status === 308 || (method === 'GET' && /^30[12]$/.test(`${sent.status}`));
  const location = header(sent.headers, 'location');
  const target = isRedirect && location !== undefined ? URL.parse(location, origin) : null;
  return target?.origin === origin ? `${target.pathname}${target.search}` : undefined;
}

function readBounded<T>({ maxJsonValues }: Connection, reply: HttpReply, read: Reader<T>): ReadResult<T> {
  if (!holdsMore(reply.body.toString('latin1'), maxJsonValues)) return read(reply);
  return { ok: false, failure: unreadable(reply.status, tooManyValues('the answer', maxJsonValues), false) };
}

/** The same for a streamed response: resolves with its headers. */
export function open(
  link: Connection,
  operation: Operation,
  idleMs: number,
  check: (stream: HttpStream) => ReadResult<HttpStream>,
  options: CallOptions = {},
): Promise<HttpStream> {
  return repeat(link, operation, options, async (timeoutMs) => {
    const limits = { timeoutMs, maxBodyBytes: link.maxBodyBytes, idleMs, signal: options.signal };
    const sent = await openStream(dispatcherOf(link), requestOf(link, operation), limits);
    return sent.kind === 'stream' ? check(sent) : refused(link, operation, sent);
  });
}

/** The error to throw. Of the request, it contains only the method and the path. */
export function errorOf(link: Connection, operation: Operation, failure: AttemptFailure, why?: string): ServiceError {
  const { kind, status, effect, detail, problems, retryAfterMs } = failure;
  return new ServiceError({
    kind,
    operation: operation.name,
    method: operation.method,
    address: `${link.origin}${link.prefix}${operation.shown ?? operation.path}`,
    status,
    detail: [detail, why].filter(Boolean).join('; ') || undefined,
    problems,
    retryAfterMs,
    effect: isSafe(operation) ? 'none' : effect,
  });
}

/** The mask for all secrets of an operation. */
export const maskFor = (link: Connection, operation: Operation) =>
  strictMaskOf([...link.secrets, ...(operation.secrets ?? [])]);

async function repeat<T>(
  link: Connection,
  operation: Operation,
  options: CallOptions,
  attempt: (timeoutMs: number) => Promise<ReadResult<T>>,
): Promise<T> {
  const { clock, policy } = link;
  if (link.refusal !== undefined) throw errorOf(link, operation, neverSent(link.refusal));
  const deadline = options.deadline ?? clock.now() + (operation.callTimeoutMs ?? link.callTimeoutMs);
  let failure = neverSent('its deadline had passed before it was sent');
  for (let made = 1; ; made += 1) {
    options.signal?.throwIfAborted();
    const left = deadline - clock.now();
    if (left <= 0) throw errorOf(link, operation, failure);
    const attempted = await attempt(Math.min(left, operation.attemptTimeoutMs ?? link.attemptTimeoutMs));
    if (attempted.ok) return attempted.value;
    failure = attempted.failure;
    const [safe, now, random] = [isSafe(operation), clock.now(), link.random()];
    const decision = decideRetry({ attempt: made, failure, safe, now, deadline, random, policy });
    if (decision.kind === 'give-up') throw errorOf(link, operation, failure, decision.why);
    await clock.sleep(decision.ms, options.signal);
  }
}

const isSafe = ({ method, safe = method === 'GET' }: Operation): boolean => safe;

function neverSent(detail: string): AttemptFailure {
  return { kind: 'unreachable', effect: 'none', passing: false, detail };
}

function refused(link: Connection, operation: Operation, sent: SendResult): { ok: false; failure: AttemptFailure } {
  const mask = maskFor(link, operation);
  if (sent.kind !== 'reply') return { ok: false, failure: failureOfSend(sent.failure, mask) };
  const now = link.clock.now();
  const failure = failureOfReply(sent, mask, now);
  const retryAfterMs = failure.retryAfterMs ?? operation.waitOf?.((name) => header(sent.headers, name), now);
  return { ok: false, failure: { ...failure, retryAfterMs } };
}

function requestOf(
  link: Connection,
  { method, path, query = '', headers, body, stream, accept }: Operation,
): HttpRequest {
  const known = body === undefined ? link.headers : link.headersWithBody;
  return {
    origin: link.origin,
    method,
    path: `${link.prefix}${path}${query}`,
    headers: { ...known, ...headers, ...(accept === undefined ? {} : { accept }) },
    body: stream?.() ?? (body === undefined ? undefined : JSON.stringify(body)),
  };
}

function dispatcherOf({ dispatcher }: Connection) {
  if (!dispatcher) throw new Error('a connection without a dispatcher has a refusal');
  return dispatcher;
}

/** Encodes a path segment. Throws for a value that would change the path. */
export function segment(what: string, value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw new Error(`${what} is ${JSON.stringify(value)}, which is no id`);
  return encodeURIComponent(value);
}

/** Builds a query of the defined values; a list is joined by commas. */
export function query(values: Record<string, string | number | boolean | readonly string[] | undefined>): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) pairs.set(name, String(value));
  return pairs.size === 0 ? '' : `?${pairs.toString()}`;
}
