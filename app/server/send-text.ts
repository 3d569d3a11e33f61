import type { IncomingMessage, ServerResponse } from 'node:http';
import { pause, type Clock } from '../../src/clock.ts';

/** How long (ms) a sender may go on after it was refused, so that it reads why before its connection ends. */
const lingerMs = 1_000;

/** How much (bytes) of a refused request's body is read and dropped. */
const droppedAtMost = 4 * 1024 * 1024;

/** A body that is shorter than this (bytes) is read and dropped, and the connection is kept. */
const shortBody = 64 * 1024;

/** Answers with a line of text. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers?: Record<string, string>,
): void {
  if (response.headersSent || response.destroyed) return;
  const body = `${text}\n`;
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/**
 * Refuses a request, and discards its body. A long upload is cut off, after the client had a moment to read the
 * response.
 */
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
  const waits = request.headers.expect !== undefined && !request.readableDidRead;
  if (request.complete || (length <= shortBody && !waits)) {
    sendText(response, status, problem, headers);
    return;
  }
  const body = `${problem}\n`;
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...headers,
  });
  response.write(body);
  if (!waits) await drained(request, clock);
  response.end();
}

/** Discards the body for a short time, then stops reading. */
async function drained(request: IncomingMessage, clock: Clock): Promise<void> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > droppedAtMost) request.pause();
  });
  request.once('end', stop).once('close', stop).once('error', stop);
  // Either it has ended, or its time is up.
  await pause(clock, lingerMs, over.signal);
}

/** Why a request is refused: the status, and a sentence for the client. */
export interface Refusal {
  status: number;
  /** Ends with a full stop. */
  problem: string;
  /** `Retry-After` (seconds). */
  retryAfter?: number;
}

/** The refusal of a moment in which nothing can be taken. */
export const comeAgain = (problem: string, retryAfter = 10): Refusal => ({ status: 503, problem, retryAfter });
