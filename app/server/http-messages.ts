import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, pause } from '../../src/kit/clock.ts';

/** How long (ms) a refused client may continue sending, so that it reads the response before its connection closes. */
const lingerMs = 1_000;

/** How much (bytes) of a refused request's body is read and dropped. */
const maxDroppedBytes = 4 * 1024 * 1024;

/** A shorter body (bytes) of a refused request is discarded, and the connection is kept. */
const maxShortBodyBytes = 64 * 1024;

/** Responds with a line of text. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers?: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return;
  const body = `${text}\n`;
  response.writeHead(status, { ...textHeaders(body), ...headers });
  response.end(body);
}

const textHeaders = (body: string) => ({
  'content-type': 'text/plain; charset=utf-8',
  'content-length': Buffer.byteLength(body),
});

/** Refuses a request, and discards its body. A long upload is cut off after a moment for reading the response. */
export async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, problem, retryAfter }: Refusal,
  clock: Clock,
): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  const length = Number(request.headers['content-length'] ?? (request.headers['transfer-encoding'] ? Infinity : 0));
  // A client that waits for `100 Continue` sends nothing more.
  const waitsForContinue = request.headers.expect !== undefined && !request.readableDidRead;
  if (request.complete || (length <= maxShortBodyBytes && !waitsForContinue)) {
    sendText(response, status, problem, headers);
    return;
  }
  const body = `${problem}\n`;
  response.writeHead(status, { ...textHeaders(body), connection: 'close', ...headers });
  response.write(body);
  if (!waitsForContinue) await discardBody(request, clock);
  response.end();
}

/** Discards the body for a short time, then stops reading. */
async function discardBody(request: IncomingMessage, clock: Clock): Promise<void> {
  const finished = new AbortController();
  const stop = (): void => finished.abort();
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > maxDroppedBytes) request.pause();
  });
  request.once('end', stop).once('close', stop).once('error', stop);
  // Until the body has ended, or the time is up.
  await pause(clock, lingerMs, finished.signal);
}

/** Why a request is refused: the status, and a sentence for the client. */
export interface Refusal {
  status: number;
  /** Ends with a full stop. */
  problem: string;
  /** `Retry-After` (seconds). */
  retryAfter?: number;
}

/** A temporary refusal: the client should retry later. */
export const unavailable = (problem: string, retryAfter = 10): Refusal => ({ status: 503, problem, retryAfter });

/** A body, or why there is none: it is too long, there is no memory for it, or the connection broke. */
type ReadBody = { kind: 'read'; bytes: Buffer } | { kind: 'too-long' } | { kind: 'no-room' } | { kind: 'broken' };

/** The part of a memory budget that one body uses. */
interface Reservation {
  /** Reserves so many bytes; false if there is no room. */
  add(bytes: number): boolean;
  release(): void;
}

/** Creates a memory budget (bytes) for all request bodies together. */
export function byteBudget(max: number): () => Reservation {
  let used = 0;
  return () => {
    let ownBytes = 0;
    return {
      add: (bytes) => {
        if (used + bytes > max) return false;
        used += bytes;
        ownBytes += bytes;
        return true;
      },
      release: () => {
        used -= ownBytes;
        ownBytes = 0;
      },
    };
  };
}

/** Reads a body of at most `longest` bytes, which count against the memory budget as they arrive. */
export function readBody(request: IncomingMessage, maxBytes: number, reservation: Reservation): Promise<ReadBody> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let length = 0;
    const end = (read: ReadBody): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      chunks = [];
      resolve(read);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > maxBytes) end({ kind: 'too-long' });
      else if (!reservation.add(chunk.length)) end({ kind: 'no-room' });
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      const [only] = chunks;
      end({ kind: 'read', bytes: chunks.length === 1 && only ? only : Buffer.concat(chunks, length) });
    };
    const onClose = (): void => end({ kind: 'broken' });
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}
