import { readdirSync, readFileSync } from 'node:fs';
import { hasCode } from '../../postgres/embedded/file-errors.ts';

/** How often it is looked again: a process may start another one at the moment it is ended. */
const mostRounds = 100;

/**
 * Ends every process of some users, for root and on Linux: what left its process group, and what a service that was
 * killed could not end. Does nothing for user 0, and nothing where there is no `/proc`.
 *
 * @returns how many it ended.
 */
export function killProcessesOf(uids: ReadonlySet<number>): number {
  const ended = new Set<number>();
  for (let round = 0; round < mostRounds; round += 1) {
    const there = processes().filter(({ uid }) => uid !== 0 && uids.has(uid));
    if (there.length === 0) break;
    for (const { pid } of there) {
      ended.add(pid);
      kill(pid);
    }
  }
  return ended.size;
}

/** Processes that run, by the user that they really are of; those that have ended and are not taken note of are none. */
function processes(): { pid: number; uid: number }[] {
  return entriesOf('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const status = readIfThere(`/proc/${name}/status`);
    const uid = /^Uid:\s+(\d+)/m.exec(status)?.[1];
    return uid === undefined || /^State:\s+[ZX]/m.test(status) ? [] : [{ pid: Number(name), uid: Number(uid) }];
  });
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
