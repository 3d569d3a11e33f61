import type { Clock } from '../../clock.ts';
import { hasCode } from '../../database/embedded/file-errors.ts';
import { buildMark, markOf, memoryOf, seeProcesses, variableOf, type SeenProcess } from './seen-processes.ts';

/** What all processes of a build together take. */
export interface Usage {
  processes: number;
  memoryBytes: number;
}

/** The processes of one build, also those that left the process group that they were started in. */
export interface BuildProcesses {
  /** The variable that makes a process one of the build's. */
  mark: Record<string, string>;
  /** Looks at them. */
  usage(): Usage;
  /** Kills every one of them; resolves when none is left. */
  kill(): Promise<void>;
}

/** How often it is looked for processes that a killed one may have started at the last moment, and how long between (ms). */
const mostRounds = 100;
const betweenRounds = 10;

/**
 * Makes the eye on a build's processes. One belongs to it when it bears the build's mark, or was started by one that
 * belonged to it when it was last looked. So a process that calls `setsid` is found, and one that also drops its
 * environment is found where it was seen once before. Where the machine has no `/proc` nothing is seen.
 *
 * @param folder the build's: the mark.
 */
export function buildProcesses(folder: string, clock: Clock): BuildProcesses {
  /** By id and birth, whether a process belongs to the build. */
  let known = new Map<string, boolean>();

  function look(): number[] {
    const seen = seeProcesses();
    const byPid = new Map(seen.map((process) => [process.pid, process]));
    const next = new Map<string, boolean>();
    const belongs = (process: SeenProcess): boolean => {
      const name = `${process.pid} ${process.born}`;
      const decided = next.get(name);
      if (decided !== undefined) return decided;
      next.set(name, false);
      const parent = byPid.get(process.parent);
      const does =
        known.get(name) === true ||
        (parent !== undefined && belongs(parent)) ||
        (known.get(name) === undefined && markOf(process.pid) === folder);
      next.set(name, does);
      return does;
    };
    const mine = seen.filter(belongs).map(({ pid }) => pid);
    known = next;
    return mine;
  }

  return {
    mark: { [buildMark]: folder },
    usage() {
      const mine = look();
      return { processes: mine.length, memoryBytes: mine.reduce((total, pid) => total + memoryOf(pid), 0) };
    },
    kill: () => killAll(look, clock),
  };
}

/**
 * Kills what a service that was killed itself left running: its builds, by their mark, and its agents, whose home lies in
 * their build. They would end by themselves, agents when they have finished what they are at; but a new service starts
 * each agent anew, and one of them at a time is to serve.
 *
 * @param buildsFolder where the builds lie.
 * @returns how many processes it found.
 */
export async function killLeftBehind(buildsFolder: string, clock: Clock): Promise<number> {
  const isBelow = (path: string | undefined): boolean => path?.startsWith(`${buildsFolder}/`) === true;
  const left = (): number[] =>
    seeProcesses()
      .map(({ pid }) => pid)
      .filter((pid) => isBelow(markOf(pid)) || isBelow(variableOf(pid, 'HOME')));
  const found = left().length;
  if (found > 0) await killAll(left, clock);
  return found;
}

async function killAll(look: () => number[], clock: Clock): Promise<void> {
  for (let round = 0; round < mostRounds; round += 1) {
    const left = look();
    if (left.length === 0) return;
    left.forEach(kill);
    await clock.sleep(betweenRounds);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH', 'EPERM')) throw error;
  }
}
