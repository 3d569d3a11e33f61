import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Parser } from 'tar';
import { hasCode, messageOf } from '../../../kit/errors.ts';
import type { TarBounds } from './tar-entries.ts';

/** The outcome of reading an archive; `digest` is `sha256:<hex>` of the file's bytes. */
type TarRead = { kind: 'read'; digest: string } | { kind: 'refused'; why: string } | { kind: 'interrupted' };

/** Unzips a file into a parser, with backpressure, and reads the file to its end. Stops at the first problem. */
export async function readTar(
  file: string,
  parser: Parser,
  { bounds, signal, problem }: { bounds: TarBounds; signal: AbortSignal; problem: () => string | undefined },
): Promise<TarRead> {
  let broken: string | undefined;
  const ended = new Promise<void>((done) => {
    parser.on('close', () => done());
    parser.on('error', (error: unknown) => {
      broken ??= hasCode(error, 'ENOSPC', 'EDQUOT') ? 'There is no room for it on this machine.' : notSound(error);
      done();
    });
  });

  const zipped = createReadStream(file);
  const hash = createHash('sha256');
  const unzip = createGunzip();
  zipped.on('data', (chunk) => void hash.update(chunk));
  zipped.on('error', (error) => unzip.destroy(error));
  zipped.pipe(unzip);
  let size = 0;
  try {
    for await (const chunk of chunksOf(unzip)) {
      if (size === 0 && isZipped(chunk)) return refused('It is zipped more than once.');
      size += chunk.byteLength;
      const tooLarge = bombProblem(size, zipped.bytesRead, bounds);
      if (tooLarge) return refused(tooLarge);
      // The parser returns false until the current entry has been written.
      if (!parser.write(chunk) && !broken) await Promise.race([drained(parser), ended]);
      const wrong = broken ?? problem();
      if (wrong) return refused(wrong);
      if (signal.aborted) return { kind: 'interrupted' };
    }
    // Bytes after the gzip are not unzipped, but belong to the file.
    zipped.unpipe(unzip).resume();
    await finished(zipped);
  } catch (error) {
    return refused(`It can't be unzipped (${messageOf(error)}).`);
  } finally {
    zipped.destroy();
    unzip.destroy();
  }
  try {
    parser.end();
    await ended;
  } catch (error) {
    // The library throws for some invalid archives instead of emitting an error.
    broken ??= notSound(error);
  }
  const wrong = broken ?? problem();
  if (wrong) return refused(wrong);
  return signal.aborted ? { kind: 'interrupted' } : { kind: 'read', digest: `sha256:${hash.digest('hex')}` };
}

/** Resolves when a parser accepts more. */
export const drained = (parser: Parser): Promise<void> => new Promise((done) => parser.once('drain', () => done()));

const notSound = (error: unknown): string => `It is not a valid tar archive (${messageOf(error)}).`;

const refused = (why: string): TarRead => ({ kind: 'refused', why });

/** The problem with an archive whose content is too large, in bytes or in ratio. */
function bombProblem(unpacked: number, packed: number, bounds: TarBounds): string | undefined {
  if (unpacked > bounds.unpackedBytes) return `It holds more than ${bounds.unpackedBytes} bytes.`;
  if (unpacked <= bounds.freeBytes || unpacked <= packed * bounds.ratio) return undefined;
  return `What it holds is more than ${bounds.ratio} times as large as the archive.`;
}

/** Rejects double compression: the tar library would unzip it again, past every limit. */
const isZipped = (chunk: Uint8Array): boolean =>
  (chunk[0] === 0x1f && chunk[1] === 0x8b) || (chunk[0] === 0x28 && chunk[1] === 0xb5);

export async function* chunksOf(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) yield chunk;
}
