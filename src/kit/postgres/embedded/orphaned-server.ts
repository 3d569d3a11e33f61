import { readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { missingCodes, unlessCode } from '../../errors.ts';
import { type Clock, steadyNow } from '../../clock.ts';
import { processBirth, processCommand } from './process-identity.ts';
import type { Logger } from '../../logger.ts';

/** What is known of the process that a cluster's `postmaster.pid` names. */
interface Suspect {
  /** Its command line, in words; `undefined` when it does not run. */
  command: string[] | undefined;
  /** Whether its working folder is the cluster; `undefined` when that can't be seen. */
  worksInCluster: boolean | undefined;
}

/**
 * Whether a process is the Postgres of this very cluster: Postgres works in its cluster's folder and was started
 * with `-D` and that folder. A process that only got the same id later is not touched.
 */
export function isServerOf(cluster: string, { command, worksInCluster }: Suspect): boolean {
  if (command === undefined) return false;
  if (worksInCluster !== undefined) return worksInCluster && command.some((word) => word.endsWith('postgres'));
  return command.join(' ').includes(`-D ${cluster} `);
}

/**
 * Ends a Postgres that runs on this cluster although the process that started it is gone (it was killed). The new
 * start gets a server of its own rather than adopting that one: one kind of parent, one log, the programs of this
 * version. Committed rows are kept, whichever way it ends. Call it only while holding the lock of the folder.
 *
 * @throws Error when it does not end.
 */
export async function stopLeftover(cluster: string, clock: Clock, log: Logger): Promise<void> {
  const pid = recordedPid(cluster);
  if (pid === undefined) return;
  if (!isServerOf(cluster, { command: processCommand(pid), worksInCluster: worksIn(pid, cluster) })) {
    // Another process may have this id by now, and Postgres would take it for a server and refuse to start.
    if (processBirth(pid) !== undefined) rmSync(join(cluster, 'postmaster.pid'), { force: true });
    return;
  }
  log.info(`A Postgres (process ${pid}) was left on this data folder by a process that was killed; stopping it.`);
  const born = processBirth(pid);
  for (const [signal, ms] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!unlessCode(['ESRCH'], false, () => process.kill(pid, signal))) return;
    for (const until = steadyNow(clock) + ms; steadyNow(clock) < until;) {
      if (processBirth(pid) !== born) return;
      await clock.sleep(20);
    }
  }
  throw new Error(`The Postgres (process ${pid}) left on ${cluster} can't be ended. End it by hand and start again.`);
}

function recordedPid(cluster: string): number | undefined {
  const text = unlessCode(missingCodes, '', () => readFileSync(join(cluster, 'postmaster.pid'), 'utf8'));
  const [first = ''] = text.split('\n');
  return /^\d+$/.test(first.trim()) ? Number(first) : undefined;
}

function worksIn(pid: number, cluster: string): boolean | undefined {
  if (process.platform !== 'linux') return undefined;
  return unlessCode(['ENOENT', 'EACCES', 'EPERM', 'ESRCH'], undefined, () => {
    const [there, here] = [statSync(`/proc/${pid}/cwd`), statSync(realpathSync(cluster))];
    return there.dev === here.dev && there.ino === here.ino;
  });
}
