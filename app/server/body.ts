import type { IncomingMessage } from 'node:http';

/** A body, or why there is none: longer than allowed, no room for it now, or the connection broke off. */
export type ReadBody =
  { kind: 'read'; bytes: Buffer } | { kind: 'too-long' } | { kind: 'no-room' } | { kind: 'broken' };

/** What one body holds of a budget. */
export interface Held {
  /** Reserves so many bytes; false if there is no room. */
  take(bytes: number): boolean;
  release(): void;
}

/** Memory budget (bytes) of all request bodies together. */
export function byteBudget(most: number): () => Held {
  let taken = 0;
  return () => {
    let own = 0;
    return {
      take: (bytes) => {
        if (taken + bytes > most) return false;
        taken += bytes;
        own += bytes;
        return true;
      },
      release: () => {
        taken -= own;
        own = 0;
      },
    };
  };
}

/**
 * Reads a body of at most `longest` bytes, which count against the memory budget as they arrive. Excess bytes are
 * dropped.
 */
export function readBody(request: IncomingMessage, longest: number, held: Held): Promise<ReadBody> {
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
      if (length > longest) end({ kind: 'too-long' });
      else if (!held.take(chunk.length)) end({ kind: 'no-room' });
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
