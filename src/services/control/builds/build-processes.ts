import { type Clock, pause } from '../../../kit/clock.ts';
import { agentMark } from '../compute/agent-environment.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import { killAll, processFamily, type ProcessFamily, type Usage } from '../compute/process-family.ts';
import { listProcesses, variableOf, type ProcessInfo } from '../compute/process-list.ts';
import type { BuildBounds } from './build.ts';
import { type FreeSpace, spaceIsShort } from './free-space.ts';

/** The variable that marks all processes of a build; its value is the build's folder. Child processes inherit it. */
const buildMark = 'LANDFALL_BUILD';

/** The processes of the build in a folder. */
export const buildProcesses = (folder: string, clock: Clock, user?: ProcessUser): ProcessFamily =>
  processFamily({ mark: [buildMark, folder], user }, clock);

/**
 * Kills the processes that a killed service left, found by their mark or their home; returns how many. They would exit
 * by themselves later, but this service starts each agent again, and only one may serve.
 */
export async function killOrphanedProcesses(buildsFolder: string, clock: Clock): Promise<number> {
  const isOrphan = ({ pid }: ProcessInfo): boolean =>
    [buildMark, agentMark, 'HOME'].some((name) => variableOf(pid, name)?.startsWith(`${buildsFolder}/`) === true);
  const orphans = (): ProcessInfo[] => listProcesses().filter(isOrphan);
  const count = orphans().length;
  if (count > 0) await killAll(orphans, clock);
  return count;
}

/** The shortest interval (ms) of measuring a build; the disk is checked in every fifth round. */
const minIntervalMs = 200;
const roundsPerDiskCheck = 5;
/** The largest share of a CPU that measuring may take. */
const maxCpuShare = 0.05;

interface WatchDependencies {
  processes: Pick<ProcessFamily, 'usage'>;
  bounds: BuildBounds;
  dataDir: string;
  freeSpace: FreeSpace;
  clock: Clock;
}

/** The limit that a build exceeds, as a phrase for people; undefined where it exceeds none. */
export function exceededLimit(used: Usage, limits: Pick<BuildBounds, 'memoryBytes' | 'processes'>): string | undefined {
  if (used.memoryBytes > limits.memoryBytes) {
    return `it took more memory than a build may (${Math.floor(limits.memoryBytes / 1_000_000)} MB) and was stopped`;
  }
  if (used.processes <= limits.processes) return undefined;
  return `it ran more processes than a build may (${limits.processes}) and was stopped`;
}

/**
 * Measures a build periodically, and resolves with the reason why it must be stopped, or with undefined when `endSignal`
 * aborts. At least half of the free space that a build needs to start must remain for live agents.
 */
export const watchBuild =
  ({ processes, bounds, dataDir, freeSpace, clock }: WatchDependencies) =>
  async (endSignal: AbortSignal): Promise<string | undefined> => {
    let measuringMs = 0;
    for (let round = 1; ; round += 1) {
      await pause(clock, Math.max(minIntervalMs, measuringMs / maxCpuShare), endSignal);
      if (endSignal.aborted) return undefined;
      const startedAt = performance.now();
      const reason = exceededLimit(processes.usage(), bounds);
      measuringMs = performance.now() - startedAt;
      if (reason !== undefined) return reason;
      if (round % roundsPerDiskCheck !== 0) continue;
      const free = await freeSpace(dataDir);
      if (free < bounds.minFreeBytes / 2) return `it was ended. ${spaceIsShort(free, bounds.minFreeBytes)}`;
    }
  };
