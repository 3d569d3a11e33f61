import type { Clock } from '../../clock.ts';
import { agentMark } from '../compute/agent-environment.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import { killAll, processFamily, type ProcessFamily } from '../compute/process-family.ts';
import { seeProcesses, variableOf, type SeenProcess } from '../compute/seen-processes.ts';

/** The variable that marks every process of a build with the build's folder; child processes inherit it. */
const buildMark = 'LANDFALL_BUILD';

/**
 * The processes of one build.
 *
 * @param folder the build's folder: the mark.
 * @param user the deployment's own user, if any.
 */
export const buildProcesses = (folder: string, clock: Clock, user?: ProcessUser): ProcessFamily =>
  processFamily({ mark: [buildMark, folder], user }, clock);

/**
 * Kills the processes that a killed service left: builds, by their mark, and agents, by their mark or their home in the
 * build. They would exit by themselves later, but the new service starts each agent again, and only one may serve.
 *
 * @param buildsFolder the folder of all builds.
 * @returns how many processes it killed.
 */
export async function killLeftBehind(buildsFolder: string, clock: Clock): Promise<number> {
  const isLeft = ({ pid }: SeenProcess): boolean =>
    [buildMark, agentMark, 'HOME'].some((name) => variableOf(pid, name)?.startsWith(`${buildsFolder}/`) === true);
  const left = (): SeenProcess[] => seeProcesses().filter(isLeft);
  const found = left().length;
  if (found > 0) await killAll(left, clock);
  return found;
}
