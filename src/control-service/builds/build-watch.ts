import { pause, type Clock } from '../../clock.ts';
import type { ProcessFamily, Usage } from '../compute/process-family.ts';
import type { BuildBounds } from './build.ts';
import type { FreeSpace } from './free-space.ts';
import { spaceIsShort } from './free-space.ts';

/** The intervals of measuring a build and the disk (ms), where measuring is fast. */
const lookEvery = 200;
const looksPerDisk = 5;
/** The largest share of a processor that measuring may take. */
const mostOfProcessor = 0.05;

export interface WatchSettings {
  processes: Pick<ProcessFamily, 'usage'>;
  bounds: Pick<BuildBounds, 'memoryBytes' | 'processes' | 'leastFreeBytes'>;
  dataDir: string;
  freeSpace: FreeSpace;
  clock: Clock;
}

/** The limit that a build exceeds, for a person; undefined for none. */
export function tooMuch(
  { memoryBytes, processes }: Usage,
  bounds: Pick<BuildBounds, 'memoryBytes' | 'processes'>,
): string | undefined {
  if (memoryBytes > bounds.memoryBytes) {
    return `it took more memory than a build may (${Math.floor(bounds.memoryBytes / 1_000_000)} MB) and was stopped`;
  }
  if (processes > bounds.processes)
    return `it ran more processes than a build may (${bounds.processes}) and was stopped`;
  return undefined;
}

/**
 * Measures a build periodically, until `over` aborts.
 *
 * @returns why the build must be stopped; undefined when `over` aborted first. It must not use more than half of the free
 * space that it needs to start: the rest is for live agents.
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
