import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../../../kit/errors.ts';

/** How many bytes users other than root can still write at a folder that exists or will be created. */
export async function freeSpace(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(folder) === folder) throw error;
    return freeSpace(dirname(folder));
  }
}
export type FreeSpace = typeof freeSpace;

/** Recognizes "disk full" in the output of git, npm and our own steps. Linux has the same code for too many file watchers. */
export const isDiskFullMessage = (text: string): boolean =>
  !text.includes('file watchers') &&
  /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded|disk is full|out of disk ?space/i.test(text);

export const isDiskFull = (error: unknown): boolean => hasCode(error, 'ENOSPC', 'EDQUOT');

const advice =
  "Live revisions are not affected. Have the operator make room in the service's data folder, or start it with --data on a larger disk, then deploy again.";

export const diskIsFull = `The disk of this machine is full: there was no space left for this build. ${advice}`;

/** The reason for a build that was refused or stopped because too little disk space is left. */
export const spaceIsShort = (free: number, needed: number): string =>
  `Only ${inMegabytes(free)} MB are left on the disk of this machine, and a build needs at least ${inMegabytes(needed)} MB. ${advice}`;

const inMegabytes = (bytes: number): number => Math.floor(bytes / 1_000_000);
