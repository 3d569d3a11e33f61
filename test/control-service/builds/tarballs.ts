import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { plainAgent, type Files } from './repositories.ts';

/** One entry as it stands in a hand-made archive: nothing of it is judged. */
export interface RawEntry {
  path: string;
  /** One character; `0` is a file, `1` a hard link, `2` a link, `3` and `4` devices, `5` a folder, `6` a pipe. */
  type?: string;
  text?: string | Uint8Array;
  link?: string;
  mode?: number;
  /** The size that the header tells; that of the text when absent. */
  size?: number;
  /** Bytes put into the header as they are, by their place. */
  raw?: readonly (readonly [at: number, bytes: string])[];
}

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

/** A header of 512 bytes (POSIX ustar), with its checksum. */
function header({ path, type = '0', text = '', link = '', mode = 0o644, size, raw = [] }: RawEntry): Buffer {
  const block = Buffer.alloc(512);
  block.write(path, 0, 100, 'utf8');
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size ?? Buffer.byteLength(text), 12), 124);
  block.write(octal(0, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  block.write(link, 157, 100, 'utf8');
  block.write('ustar\0', 257);
  block.write('00', 263);
  for (const [at, bytes] of raw) block.write(bytes, at, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** One entry with its content, in whole blocks. */
export function entry(raw: RawEntry): Buffer {
  const text = Buffer.from(raw.text ?? '');
  const rest = (512 - (text.length % 512)) % 512;
  return Buffer.concat([header(raw), text, Buffer.alloc(rest)]);
}

/** Two empty blocks: the end of an archive. */
export const endOfTar = Buffer.alloc(1024);

/** An archive of entries just as they are. */
export const rawTar = (entries: readonly RawEntry[]): Buffer => Buffer.concat([...entries.map(entry), endOfTar]);

/** The same, gzipped. */
export const rawTarball = (entries: readonly RawEntry[]): Buffer => gzipSync(rawTar(entries));

/** A tarball of files, as anybody makes one. */
export const tarballOf = (files: Files = plainAgent): Buffer =>
  rawTarball(Object.entries(files).map(([path, text]) => ({ path, text })));

/** What is told of a tarball's bytes. */
export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
