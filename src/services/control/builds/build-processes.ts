import { type Clock, pause } from '../../../kit/clock.ts';
import { agentMark } from '../compute/agent-environment.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import { killAll, processFamily, type ProcessFamily, type Usage } from '../compute/process-family.ts';
import { listProcesses, variableOf, type ProcessInfo } from '../compute/process-list.ts';
import type { BuildBounds } from './build.ts';
import { type FreeSpace, spaceIsShort } from './free-space.ts';

/** The variable that marks every process of a build with the build's folder; child processes inherit it. */
const buildMark = 'LANDFALL_BUILD';

/** The processes of the build in a folder. */
export const buildProcesses = (folder: string, clock: Clock, user?: ProcessUser): ProcessFamily =>
  processFamily({ mark: [buildMark, folder], user }, clock);

/**
 * Kills the processes that a killed service left, by their mark or their home in the builds; returns how many. They
 * would exit by themselves later, but the new service starts each agent again, and only one may serve.
 */
export async function killOrphanedProcesses(buildsFolder: string, clock: Clock): Promise<number> {
  const isLeft = ({ pid }: ProcessInfo): boolean =>
    [buildMark, agentMark, 'HOME'].some((name) => variableOf(pid, name)?.startsWith(`${buildsFolder}/`) === true);
  const left = (): ProcessInfo[] => listProcesses().filter(isLeft);
  const found = left().length;
  if (found > 0) await killAll(left, clock);
  return found;
}

/** The intervals of measuring a build and the disk (ms), where measuring is fast. */
const lookEvery = 200;
const looksPerDisk = 5;
/** The largest share of a processor that measuring may take. */
const maxOfProcessor = 0.05;

interface WatchDependencies {
  processes: Pick<ProcessFamily, 'usage'>;
  bounds: BuildBounds;
  dataDir: string;
  freeSpace: FreeSpace;
  clock: Clock;
}

/** The limit that a build exceeds, for a person; undefined for none. */
export function exceededLimit(used: Usage, most: Pick<BuildBounds, 'memoryBytes' | 'processes'>): string | undefined {
  if (used.memoryBytes > most.memoryBytes) {
    return `it took more memory than a build may (${Math.floor(most.memoryBytes / 1_000_000)} MB) and was stopped`;
  }
  if (used.processes <= most.processes) return undefined;
  return `it ran more processes than a build may (${most.processes}) and was stopped`;
}

/**
 * Measures a build periodically: why it must be stopped; undefined when `over` aborted first. It must not use more than
 * half of the free space that it needs to start: the rest is for live agents.
 */
export const watchBuild =
  ({ processes, bounds, dataDir, freeSpace, clock }: WatchDependencies) =>
  async (over: AbortSignal): Promise<string | undefined> => {
    let took = 0;
    for (let look = 1; ; look += 1) {
      await pause(clock, Math.max(lookEvery, took / maxOfProcessor), over);
      if (over.aborted) return undefined;
      const began = performance.now();
      const why = exceededLimit(processes.usage(), bounds);
      took = performance.now() - began;
      if (why !== undefined) return why;
      if (look % looksPerDisk !== 0) continue;
      const free = await freeSpace(dataDir);
      if (free < bounds.minFreeBytes / 2) return `it was ended. ${spaceIsShort(free, bounds.minFreeBytes)}`;
    }
  };
