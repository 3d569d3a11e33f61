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
  /** The path relative to the base address. */
  path: string;
  query?: string;
  headers?: Readonly<Record<string, string>>;
  /** The path for error messages, if the real one is a secret. */
  displayedPath?: string;
  body?: unknown;
  /** A stream instead of a JSON body, created for every attempt; the headers have its type and length. */
  stream?: () => Readable;
  /** The requested content type; JSON by default. */
  accept?: string;
  /** The secrets in the body, which errors must not contain. */
  secrets?: readonly string[];
  /** Whether to follow one redirect within the origin: GitHub's API redirects for renamed repositories. */
  followsRedirect?: boolean;
  /** Reads the delay (ms) before a retry from a response without `Retry-After`: GitHub states when its limit resets. */
  readRetryDelay?: (header: (name: string) => string | undefined, now: number) => number | undefined;
  /** Whether a retry is safe; by default true for every GET. */
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
    const firstResult = await send(dispatcherOf(link), request, limits);
    const path = operation.followsRedirect ? pathMovedTo(request, firstResult) : undefined;
    const result = path === undefined ? firstResult : await send(dispatcherOf(link), { ...request, path }, limits);
    const isSuccess = result.kind === 'reply' && result.status >= 200 && result.status < 300;
    return isSuccess ? readBounded(link, result, read) : failedResult(link, operation, result);
  });
}

/** The target of a redirect within the origin. For a write, only 307 and 308 are certain that nothing was done. */
function pathMovedTo({ origin, method }: HttpRequest, result: SendResult): string | undefined {
  if (result.kind !== 'reply') return undefined;
  const isRedirect =
    result.status === 307 || result.status === 308 || (method === 'GET' && /^30[12]$/.test(`${result.status}`));
  const location = header(result.headers, 'location');
  const target = isRedirect && location !== undefined ? URL.parse(location, origin) : null;
  return target?.origin === origin ? `${target.pathname}${target.search}` : undefined;
}

function readBounded<T>({ maxJsonValues }: Connection, reply: HttpReply, read: Reader<T>): ReadResult<T> {
  if (!holdsMore(reply.body.toString('latin1'), maxJsonValues)) return read(reply);
  return { ok: false, failure: unreadable(reply.status, tooManyValues('the answer', maxJsonValues), false) };
}

/** Like `call`, but for a streamed response: resolves when its headers have arrived. */
export function open(
  link: Connection,
  operation: Operation,
  idleMs: number,
  check: (stream: HttpStream) => ReadResult<HttpStream>,
  options: CallOptions = {},
): Promise<HttpStream> {
  return repeat(link, operation, options, async (timeoutMs) => {
    const limits = { timeoutMs, maxBodyBytes: link.maxBodyBytes, idleMs, signal: options.signal };
    const result = await openStream(dispatcherOf(link), requestOf(link, operation), limits);
    return result.kind === 'stream' ? check(result) : failedResult(link, operation, result);
  });
}

/** Creates the error to throw. From the request, it contains only the method and the path. */
export function errorOf(
  link: Connection,
  operation: Operation,
  failure: AttemptFailure,
  remark?: string,
): ServiceError {
  const { kind, status, effect, detail, problems, retryAfterMs } = failure;
  return new ServiceError({
    kind,
    operation: operation.name,
    method: operation.method,
    address: `${link.origin}${link.prefix}${operation.displayedPath ?? operation.path}`,
    status,
    detail: [detail, remark].filter(Boolean).join('; ') || undefined,
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
  if (link.refusal !== undefined) throw errorOf(link, operation, unsentFailure(link.refusal));
  const deadline = options.deadline ?? clock.now() + (operation.callTimeoutMs ?? link.callTimeoutMs);
  let failure = unsentFailure('its deadline had passed before it was sent');
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    options.signal?.throwIfAborted();
    const remainingMs = deadline - clock.now();
    if (remainingMs <= 0) throw errorOf(link, operation, failure);
    const result = await attempt(Math.min(remainingMs, operation.attemptTimeoutMs ?? link.attemptTimeoutMs));
    if (result.ok) return result.value;
    failure = result.failure;
    const [safe, now, random] = [isSafe(operation), clock.now(), link.random()];
    const decision = decideRetry({ attempt: attemptNumber, failure, safe, now, deadline, random, policy });
    if (decision.kind === 'give-up') throw errorOf(link, operation, failure, decision.remark);
    await clock.sleep(decision.ms, options.signal);
  }
}

const isSafe = ({ method, safe = method === 'GET' }: Operation): boolean => safe;

function unsentFailure(detail: string): AttemptFailure {
  return { kind: 'unreachable', effect: 'none', isTransient: false, detail };
}

function failedResult(
  link: Connection,
  operation: Operation,
  result: SendResult,
): { ok: false; failure: AttemptFailure } {
  const mask = maskFor(link, operation);
  if (result.kind !== 'reply') return { ok: false, failure: failureOfSend(result.failure, mask) };
  const now = link.clock.now();
  const failure = failureOfReply(result, mask, now);
  const retryAfterMs = failure.retryAfterMs ?? operation.readRetryDelay?.((name) => header(result.headers, name), now);
  return { ok: false, failure: { ...failure, retryAfterMs } };
}

function requestOf(
  link: Connection,
  { method, path, query = '', headers, body, stream, accept }: Operation,
): HttpRequest {
  const defaultHeaders = body === undefined ? link.headers : link.headersWithBody;
  return {
    origin: link.origin,
    method,
    path: `${link.prefix}${path}${query}`,
    headers: { ...defaultHeaders, ...headers, ...(accept === undefined ? {} : { accept }) },
    body: stream?.() ?? (body === undefined ? undefined : JSON.stringify(body)),
  };
}

function dispatcherOf({ dispatcher }: Connection) {
  if (!dispatcher) throw new Error('a connection without a dispatcher has a refusal');
  return dispatcher;
}

/** Encodes a path segment. Throws for a value that would change the path. */
export function segment(label: string, value: string): string {
  if (value === '' || value === '.' || value === '..')
    throw new Error(`${label} is ${JSON.stringify(value)}, which is no id`);
  return encodeURIComponent(value);
}

/** Builds a query of the defined values; a list is joined by commas. */
export function query(values: Record<string, string | number | boolean | readonly string[] | undefined>): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) pairs.set(name, String(value));
  return pairs.size === 0 ? '' : `?${pairs.toString()}`;
}
