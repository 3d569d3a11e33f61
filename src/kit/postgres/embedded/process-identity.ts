import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { unlessCode } from '../../errors.ts';

/**
 * When a process began, as an opaque word that differs between two processes that had the same id one after the
 * other, also across a restart of the machine; `undefined` when no such process runs.
 */
export function processBirth(pid: number): string | undefined {
  return process.platform === 'linux' ? birthFromProc(pid) : birthFromPs(pid);
}

/** The space of process ids: one from another container or machine says nothing here. Empty where there is one only. */
export function processSpace(): string {
  if (process.platform !== 'linux') return '';
  return `${bootId()} ${orEmpty(() => readlinkSync('/proc/self/ns/pid'))}`;
}

/** The command line of a running process, its words apart; `undefined` when no such process runs. */
export function processCommand(pid: number): string[] | undefined {
  if (process.platform !== 'linux') return ps(pid, 'command=')?.split(' ');
  const words = orEmpty(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  return words === '' ? undefined : words.split('\0');
}

function birthFromProc(pid: number): string | undefined {
  const stat = orEmpty(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The command's name stands in brackets and may hold spaces and brackets itself: count from the last one.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = rest[18];
  if (ticks === undefined || state === 'Z' || state === 'X') return undefined;
  return `${bootId()}/${ticks}`;
}

const bootId = (): string => orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')).trim();

/** Empty where it is absent, ended while it was read, or is closed to us by a sandbox. */
const orEmpty = (read: () => string): string => unlessCode(['ENOENT', 'ESRCH', 'EACCES', 'EPERM'], '', read);

function birthFromPs(pid: number): string | undefined {
  const line = ps(pid, 'stat=,lstart=');
  return line === undefined || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
}

function ps(pid: number, columns: string): string | undefined {
  try {
    const line = execFileSync('ps', ['-ww', '-o', columns, '-p', String(pid)], {
      encoding: 'utf8',
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return line === '' ? undefined : line;
  } catch (error) {
    // ps ends with 1 when it knows no such process.
    if (error instanceof Error && 'status' in error && error.status === 1) return undefined;
    throw error;
  }
}
