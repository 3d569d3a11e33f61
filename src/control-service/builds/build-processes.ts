import type { Clock } from '../../clock.ts';
import { agentMark } from '../compute/agent-environment.ts';
import type { ProcessUser } from '../compute/leashed-process.ts';
import { killAll, processFamily, type ProcessFamily } from '../compute/process-family.ts';
import { seeProcesses, variableOf, type SeenProcess } from '../compute/seen-processes.ts';

/** The variable that every command of a build has, with the build's folder as its value; whatever it starts inherits it. */
const buildMark = 'LANDFALL_BUILD';

/**
 * The processes of one build.
 *
 * @param folder the build's: the mark.
 * @param user the deployment's own, where it has one.
 */
export const buildProcesses = (folder: string, clock: Clock, user?: ProcessUser): ProcessFamily =>
  processFamily({ mark: [buildMark, folder], user }, clock);

/**
 * Kills what a service that was killed itself left running: its builds, by their mark, and its agents, by theirs or by their
 * home, which both lie in their build. They would end by themselves, agents when they have finished what they are at; but a
 * new service starts each agent anew, and one of them at a time is to serve.
 *
 * @param buildsFolder where the builds lie.
 * @returns how many processes it found.
 */
export async function killLeftBehind(buildsFolder: string, clock: Clock): Promise<number> {
  const isLeft = ({ pid }: SeenProcess): boolean =>
    [buildMark, agentMark, 'HOME'].some((name) => variableOf(pid, name)?.startsWith(`${buildsFolder}/`) === true);
  const left = (): SeenProcess[] => seeProcesses().filter(isLeft);
  const found = left().length;
  if (found > 0) await killAll(left, clock);
  return found;
}
