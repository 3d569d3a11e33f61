import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { hasCode } from '../../../kit/errors.ts';

/** A parsed `Content-Digest`: no known algorithm, a SHA-256, or unreadable. */
export type RequestedDigest = { kind: 'none' } | { kind: 'sha-256'; digest: Buffer } | { kind: 'unreadable' };

/** Parses a `Content-Digest` (RFC 9530), as in `sha-256=:<base64>:`. Ignores algorithms other than SHA-256. */
export function readContentDigest(header: string | undefined): RequestedDigest {
  if (header === undefined || header.trim() === '') return { kind: 'none' };
  let requested: RequestedDigest = { kind: 'none' };
  for (const member of header.split(',')) {
    const read = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/.exec(member.trim());
    if (!read) return { kind: 'unreadable' };
    if (read[1] !== 'sha-256') continue;
    const digest = Buffer.from(read[2] ?? '', 'base64');
    if (digest.length !== 32) return { kind: 'unreadable' };
    requested = { kind: 'sha-256', digest };
  }
  return requested;
}

/** The outcome of an upload. Only `received` leaves something on the disk. */
export type ReceiveResult =
  /** `digest` is `sha256:<hex>`. */
  | { kind: 'received'; digest: string; bytes: number }
  | { kind: 'too-large' }
  | { kind: 'no-gzip' }
  | { kind: 'other-digest'; digest: string }
  /** The sender disconnected, or sent less or more than announced. */
  | { kind: 'cut' }
  | { kind: 'disk-full' }
  /** Its folder was removed during the upload, together with its deployment. */
  | { kind: 'unknown' };

export interface IncomingTarball {
  body: AsyncIterable<Uint8Array>;
  /** `Content-Length`, if any. */
  announced: number | undefined;
  requested: RequestedDigest;
}

/** The first bytes of every gzip file: two bytes of magic, and the only method. */
const gzipBegin = [0x1f, 0x8b, 0x08];

/** Writes a tarball as it arrives, for its owner only, and renames it once it is complete and synced. */
export async function receiveTarball(file: string, incoming: IncomingTarball, largest: number): Promise<ReceiveResult> {
  if ((incoming.announced ?? 0) > largest) return { kind: 'too-large' };
  const draft = `${file}.part`;
  try {
    const received = await write(draft, incoming, largest);
    if (received.kind === 'received') await rename(draft, file);
    return received;
  } catch (error) {
    if (hasCode(error, 'ENOSPC', 'EDQUOT')) return { kind: 'disk-full' };
    if (hasCode(error, 'ENOENT')) return { kind: 'unknown' };
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function write(
  draft: string,
  { body, announced, requested }: IncomingTarball,
  largest: number,
): Promise<ReceiveResult> {
  const handle = await open(draft, 'w', 0o600);
  try {
    const hash = createHash('sha256');
    const begin: number[] = [];
    let bytes = 0;
    for await (const part of partsOf(body)) {
      if (part === 'cut') return { kind: 'cut' };
      bytes += part.byteLength;
      if (bytes > largest) return { kind: 'too-large' };
      if (begin.length < gzipBegin.length) begin.push(...part.subarray(0, gzipBegin.length - begin.length));
      if (begin.some((byte, at) => byte !== gzipBegin[at])) return { kind: 'no-gzip' };
      hash.update(part);
      await handle.writeFile(part);
    }
    if (announced !== undefined && bytes !== announced) return { kind: 'cut' };
    if (begin.length < gzipBegin.length) return { kind: 'no-gzip' };
    const digest = hash.digest();
    const named = `sha256:${digest.toString('hex')}`;
    if (requested.kind === 'sha-256' && !requested.digest.equals(digest))
      return { kind: 'other-digest', digest: named };
    await handle.sync();
    return { kind: 'received', digest: named, bytes };
  } finally {
    await handle.close();
  }
}

/** The body in chunks; an error of the sender becomes `cut`. */
async function* partsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | 'cut'> {
  const parts = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await parts.next().catch(() => 'cut' as const);
      if (next === 'cut') yield 'cut';
      if (next === 'cut' || next.done) return;
      yield next.value;
    }
  } finally {
    await parts.return?.();
  }
}
