import { readdirSync, readFileSync } from 'node:fs';
import { unlessCode } from '../../../kit/errors.ts';

export interface ProcessInfo {
  pid: number;
  parent: number;
  group: number;
  /** Its start time in ticks since boot: together with the id it identifies a process even if ids are reused. */
  startedAt: string;
}

/** All processes; none without `/proc`. Skips zombies. */
export function listProcesses(): ProcessInfo[] {
  return read(() => readdirSync('/proc'), []).flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) ? (readProcess(pid) ?? []) : [];
  });
}

function readProcess(pid: number): ProcessInfo | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name is in parentheses and may contain anything, also parentheses.
  const [state, parent, group, ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startedAt = more[16];
  if (parent === undefined || group === undefined || startedAt === undefined || state === 'Z' || state === 'X') {
    return undefined;
  }
  return { pid, parent: Number(parent), group: Number(group), startedAt };
}

export function variableOf(pid: number, name: string): string | undefined {
  const start = `${name}=`;
  return textOf(`/proc/${pid}/environ`)
    .split('\0')
    .find((variable) => variable.startsWith(start))
    ?.slice(start.length);
}

/** A process's real user; undefined where it is gone. */
export function userOf(pid: number): number | undefined {
  const uid = /^Uid:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1];
  return uid === undefined ? undefined : Number(uid);
}

/** The memory of a process in bytes, without file-backed pages. */
export const memoryOf = (pid: number): number => memoryBytesIn(textOf(`/proc/${pid}/status`));

/** The memory that the text of `/proc/<pid>/status` reports: in RAM and swap, with huge pages and page tables. */
export const memoryBytesIn = (status: string): number =>
  [...status.matchAll(/^(?:RssAnon|RssShmem|VmSwap|VmPTE|HugetlbPages):\s+(\d+) kB$/gm)]
    .map(([, kilobytes]) => Number(kilobytes) * 1_024)
    .reduce((total, bytes) => total + bytes, 0);

const textOf = (file: string): string => read(() => readFileSync(file, 'utf8'), '');

/** Returns the fallback where a file is missing, belongs to another user, or does not exist on this system. */
const read = <T, N>(work: () => T, fallback: N): T | N =>
  unlessCode(['ENOENT', 'ESRCH', 'EACCES', 'EPERM'], fallback, work);
