import { pause, type Clock } from '../../clock.ts';
import type { ProcessFamily, Usage } from '../compute/process-family.ts';
import type { BuildBounds } from './build.ts';
import type { FreeSpace } from './free-space.ts';
import { spaceIsShort } from './free-space.ts';

/** How often it is looked what a build takes (ms), where looking takes little; and how often at the disk. */
const lookEvery = 200;
const looksPerDisk = 5;
/** Looking takes at most this part of a processor. */
const mostOfProcessor = 0.05;

export interface WatchSettings {
  processes: Pick<ProcessFamily, 'usage'>;
  bounds: Pick<BuildBounds, 'memoryBytes' | 'processes' | 'leastFreeBytes'>;
  dataDir: string;
  freeSpace: FreeSpace;
  clock: Clock;
}

/** Why a build takes too much of the machine, for a person; undefined while it does not. */
export function tooMuch(
  { memoryBytes, processes }: Usage,
  bounds: Pick<BuildBounds, 'memoryBytes' | 'processes'>,
): string | undefined {
  if (memoryBytes > bounds.memoryBytes) {
    return `it took more memory than a build may (${Math.floor(bounds.memoryBytes / 1_000_000)} MB) and was ended`;
  }
  if (processes > bounds.processes) return `it ran more processes than a build may (${bounds.processes}) and was ended`;
  return undefined;
}

/**
 * Looks again and again at what a build takes, until `over` aborts.
 *
 * @returns why it has to be ended; undefined when it was over first. A build that leaves less than half of the space that
 * it could begin with is ended: the rest is for what is live.
 */
export async function watchBuild(
  { processes, bounds, dataDir, freeSpace, clock }: WatchSettings,
  over: AbortSignal,
): Promise<string | undefined> {
  let took = 0;
  for (let look = 1; ; look += 1) {
    await pause(clock, Math.max(lookEvery, took / mostOfProcessor), over);
    if (over.aborted) return undefined;
    const began = performance.now();
    const why = tooMuch(processes.usage(), bounds);
    took = performance.now() - began;
    if (why !== undefined) return why;
    if (look % looksPerDisk !== 0) continue;
    const free = await freeSpace(dataDir);
    if (free < bounds.leastFreeBytes / 2) return `it was ended. ${spaceIsShort(free, bounds.leastFreeBytes)}`;
  }
}
