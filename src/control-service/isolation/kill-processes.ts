import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { hasCode } from '../../errors.ts';

/** The longest time (ms) that sending the signal may take: processes of the same user can stop the one that sends it. */
const mostSendingMs = 1_000;

/** The number of scans: a process may start another one just before it is killed. */
const mostRounds = 100;

/**
 * Kills every process of some users, as root and on Linux: those that left their process group, and those that a killed
 * service left. Does nothing for user 0, and nothing without `/proc`.
 *
 * @returns how many it killed.
 */
export async function killProcessesOf(uids: ReadonlySet<number>): Promise<number> {
  const ended = new Set(processesOf(uids).map(({ pid }) => pid));
  await Promise.all([...uids].map(killUser));
  for (let round = 0; round < mostRounds; round += 1) {
    const there = processesOf(uids);
    if (there.length === 0) break;
    for (const { pid } of there) {
      ended.add(pid);
      kill(pid);
    }
  }
  return ended.size;
}

const processesOf = (uids: ReadonlySet<number>) => processes().filter(({ uid }) => uid !== 0 && uids.has(uid));

/**
 * Kills all processes of another user with one signal, as root. A process that starts the next one and exits is in no
 * scan for long, but can't escape this: the kernel sends the signal to all of them at once. They could stop the sender
 * first: it is given up after a second.
 */
export async function killUser(uid: number): Promise<void> {
  if (process.getuid?.() !== 0 || uid === 0) return;
  const child = spawn('/bin/sh', ['-c', 'kill -s KILL -- -1'], {
    uid,
    gid: uid,
    cwd: '/',
    env: {},
    stdio: 'ignore',
    timeout: mostSendingMs,
    killSignal: 'SIGKILL',
  });
  await new Promise<void>((resolve) => child.once('error', () => resolve()).once('exit', () => resolve()));
}

/** Running processes by their real user, without zombies. */
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
