import { readdirSync, readFileSync } from 'node:fs';
import { hasCode } from '../../database/embedded/file-errors.ts';

/** A process of this machine, as `/proc` tells of it. */
export interface SeenProcess {
  pid: number;
  parent: number;
  group: number;
  /** When it was born, in ticks since the machine started: with the id it names one process and no later one. */
  born: string;
}

/** The variable that every command of a build has, with the build's folder as its value; whatever it starts inherits it. */
export const buildMark = 'LANDFALL_BUILD';

/** Every process there is; none where the machine has no `/proc`. One that has ended and only waits to be noted is none. */
export function seeProcesses(): SeenProcess[] {
  return read(() => readdirSync('/proc'), []).flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) ? (seeProcess(pid) ?? []) : [];
  });
}

function seeProcess(pid: number): SeenProcess | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name stands in parentheses and may hold anything, also parentheses.
  const [state, parent, group, ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const born = more[16];
  if (parent === undefined || group === undefined || born === undefined || state === 'Z' || state === 'X') {
    return undefined;
  }
  return { pid, parent: Number(parent), group: Number(group), born };
}

/** The build whose mark a process bears; undefined where it bears none, or is somebody else's. */
export const markOf = (pid: number): string | undefined => variableOf(pid, buildMark);

/** A variable of the environment that a process was started with. */
export function variableOf(pid: number, name: string): string | undefined {
  const start = `${name}=`;
  return textOf(`/proc/${pid}/environ`)
    .split('\0')
    .find((variable) => variable.startsWith(start))
    ?.slice(start.length);
}

/** Bytes of memory that a process holds and that no file on the disk stands behind. */
export function memoryOf(pid: number): number {
  const status = textOf(`/proc/${pid}/status`);
  const kilobytes = ['RssAnon', 'RssShmem'].map((name) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0),
  );
  return kilobytes.reduce((total, each) => total + each, 0) * 1_024;
}

const textOf = (file: string): string => read(() => readFileSync(file, 'utf8'), '');

/** What is gone meanwhile, is somebody else's, or was never there on this kind of machine, is nothing. */
function read<T>(look: () => T, nothing: T): T {
  try {
    return look();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return nothing;
    throw error;
  }
}
