import { largestTarball } from '../contract/control/upload.ts';

/** What a folder may hold so that it is packed. */
export interface SourceLimits {
  /** Files and links. */
  entries: number;
  /** Bytes of all files together. */
  unpackedBytes: number;
  /** Bytes of the gzip tar. */
  packedBytes: number;
}

/** Far more than an agent's source has: what is larger holds something that no build needs. */
export const usualLimits: SourceLimits = {
  entries: 50_000,
  unpackedBytes: 1024 ** 3,
  packedBytes: largestTarball,
};

/** The longest path and the longest name in it, in bytes: what file systems take, with a folder around them. */
export const longestPath = 1_000;
export const longestName = 255;

/** A size in words for people: `812 bytes`, `3.4 kB`, `210 MB`. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB'];
  let size = bytes / 1_000;
  while (size >= 999.5 && units.length > 1) {
    size /= 1_000;
    units.shift();
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[0]}`;
}
