import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { plainAgent, type Files } from './repositories.ts';

/** One entry of a hand-made archive, written without checks. */
export interface RawEntry {
  path: string;
  /** One character: `0` file, `1` hard link, `2` symlink, `3` and `4` devices, `5` folder, `6` pipe. */
  type?: string;
  text?: string | Uint8Array;
  link?: string;
  mode?: number;
  /** The size in the header; that of the text by default. */
  size?: number;
  /** Raw bytes of the header by offset. */
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

/** One entry with its content, padded to whole blocks. */
export function entry(raw: RawEntry): Buffer {
  const text = Buffer.from(raw.text ?? '');
  const rest = (512 - (text.length % 512)) % 512;
  return Buffer.concat([header(raw), text, Buffer.alloc(rest)]);
}

/** Two empty blocks: the end of an archive. */
export const endOfTar = Buffer.alloc(1024);

/** An archive of raw entries. */
export const rawTar = (entries: readonly RawEntry[]): Buffer => Buffer.concat([...entries.map(entry), endOfTar]);

/** A gzipped archive of raw entries. */
export const rawTarball = (entries: readonly RawEntry[]): Buffer => gzipSync(rawTar(entries));

/** An ordinary tarball of files. */
export const tarballOf = (files: Files = plainAgent): Buffer =>
  rawTarball(Object.entries(files).map(([path, text]) => ({ path, text })));

/** The SHA-256 digest of a tarball. */
export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
