import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Gzip } from 'fflate';
import { createTarPacker } from 'modern-tar';
import type { SourceEntry } from './walk.ts';

/** A file that is no longer as it was listed. */
export class SourceChanged extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} was changed while the folder was packed`);
    this.name = 'SourceChanged';
    this.path = path;
  }
}

/** The modification time of every entry, for reproducible bytes: some tools reject times before 1980. */
const moment = new Date('2000-01-01T00:00:00Z');

/** The compressor's output depends on how its input is cut, so that is always cut alike (bytes). */
const cut = 64 * 1024;

/** What a gzip header says of the system that it was made on: unknown. */
const systemByte = 9;
const unknownSystem = 255;

/**
 * The bytes of a gzip tar of these entries, in chunks: the same wherever, whenever and by whichever user it is
 * made. Not Node's own gzip: what that makes of the same bytes depends on the processor and on the version of Node.
 */
export async function* gzipTar(folder: string, entries: readonly SourceEntry[]): AsyncGenerator<Uint8Array> {
  let made: Uint8Array[] = [];
  // With a time of 0 the header has none.
  const gzip = new Gzip({ level: 6, mtime: 0 }, (bytes) => made.push(bytes));
  let isFirst = true;
  for await (const { bytes, isLast } of cutAlike(tar(folder, entries))) {
    gzip.push(bytes, isLast);
    const ready = made;
    made = [];
    for (const piece of ready) {
      if (piece.length === 0) continue;
      if (isFirst) piece[systemByte] = unknownSystem;
      isFirst = false;
      yield piece;
    }
  }
}

async function* tar(folder: string, entries: readonly SourceEntry[]): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker();
  const common = { mtime: moment, uid: 0, gid: 0 };
  const feed = async (): Promise<void> => {
    for (const entry of entries) {
      if (entry.kind === 'link') {
        const header = { name: entry.path, size: 0, type: 'symlink', linkname: entry.target, mode: 0o777 } as const;
        await controller.add({ ...common, ...header }).close();
        continue;
      }
      const { path, size, executable } = entry;
      const file = controller.add({ ...common, name: path, size, type: 'file', mode: executable ? 0o755 : 0o644 });
      const writer = file.getWriter();
      for await (const bytes of contentOf(join(folder, path), entry)) await writer.write(bytes);
      await writer.close();
    }
    controller.finalize();
  };
  const fed = feed().catch((error: unknown) => controller.error(error));
  for await (const bytes of readable) yield bytes;
  await fed;
}

/** A link that took the place of the file meanwhile is not followed. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

async function* contentOf(at: string, { path, size }: { path: string; size: number }): AsyncGenerator<Uint8Array> {
  let read = 0;
  const file = await open(at, flags);
  for await (const bytes of file.createReadStream({ highWaterMark: cut })) {
    if (!(bytes instanceof Uint8Array)) throw new Error('a file is read as bytes');
    read += bytes.length;
    if (read > size) throw new SourceChanged(path);
    yield bytes;
  }
  if (read !== size) throw new SourceChanged(path);
}

async function* cutAlike(source: AsyncIterable<Uint8Array>): AsyncGenerator<{ bytes: Uint8Array; isLast: boolean }> {
  let piece = new Uint8Array(cut);
  let filled = 0;
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length;) {
      if (filled === cut) {
        yield { bytes: piece, isLast: false };
        piece = new Uint8Array(cut);
        filled = 0;
      }
      const part = bytes.subarray(at, at + cut - filled);
      piece.set(part, filled);
      filled += part.length;
      at += part.length;
    }
  }
  yield { bytes: piece.subarray(0, filled), isLast: true };
}
