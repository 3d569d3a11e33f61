import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Parser } from 'tar';
import { hasCode, messageOf } from '../../../kit/errors.ts';
import type { TarBounds } from './tar-entries.ts';

/** The outcome of reading an archive; `digest` is `sha256:<hex>` of the file's bytes. */
type TarRead = { kind: 'read'; digest: string } | { kind: 'refused'; reason: string } | { kind: 'interrupted' };

/** Unzips a file into a parser, with backpressure, and hashes the whole file. Stops at the first problem. */
export async function readTar(
  file: string,
  parser: Parser,
  { bounds, signal, problem }: { bounds: TarBounds; signal: AbortSignal; problem: () => string | undefined },
): Promise<TarRead> {
  let parserProblem: string | undefined;
  const ended = new Promise<void>((done) => {
    parser.on('close', () => done());
    parser.on('error', (error: unknown) => {
      parserProblem ??= hasCode(error, 'ENOSPC', 'EDQUOT')
        ? 'There is no room for it on this machine.'
        : invalidArchive(error);
      done();
    });
  });

  const archive = createReadStream(file);
  const hash = createHash('sha256');
  const unzip = createGunzip();
  archive.on('data', (chunk) => void hash.update(chunk));
  archive.on('error', (error) => unzip.destroy(error));
  archive.pipe(unzip);
  let size = 0;
  try {
    for await (const chunk of chunksOf(unzip)) {
      if (size === 0 && isZipped(chunk)) return refused('It is zipped more than once.');
      size += chunk.byteLength;
      const sizeProblem = bombProblem(size, archive.bytesRead, bounds);
      if (sizeProblem) return refused(sizeProblem);
      // The parser returns false until the current entry has been written.
      if (!parser.write(chunk) && !parserProblem) await Promise.race([waitForDrain(parser), ended]);
      const found = parserProblem ?? problem();
      if (found) return refused(found);
      if (signal.aborted) return { kind: 'interrupted' };
    }
    // The digest includes bytes after the gzip stream, which are not unzipped.
    archive.unpipe(unzip).resume();
    await finished(archive);
  } catch (error) {
    return refused(`It can't be unzipped (${messageOf(error)}).`);
  } finally {
    archive.destroy();
    unzip.destroy();
  }
  try {
    parser.end();
    await ended;
  } catch (error) {
    // The library throws for some invalid archives instead of emitting an error.
    parserProblem ??= invalidArchive(error);
  }
  const wrong = parserProblem ?? problem();
  if (wrong) return refused(wrong);
  return signal.aborted ? { kind: 'interrupted' } : { kind: 'read', digest: `sha256:${hash.digest('hex')}` };
}

/** Resolves when a parser accepts more data. */
export const waitForDrain = (parser: Parser): Promise<void> =>
  new Promise((done) => parser.once('drain', () => done()));

const invalidArchive = (error: unknown): string => `It is not a valid tar archive (${messageOf(error)}).`;

const refused = (reason: string): TarRead => ({ kind: 'refused', reason });

/** The problem with an archive that unpacks to too many bytes, or to too many per byte of the archive. */
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
