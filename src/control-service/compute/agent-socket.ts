import { rmdirSync, unlinkSync } from 'node:fs';
import { chmod, lchown, lstat, mkdir, mkdtemp, readdir, rename } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { originAt } from '../gateway/agent-address.ts';
import type { ProcessUser } from './leashed-process.ts';

/** A Unix socket that only one agent can listen on. */
export interface AgentSocket {
  /** The path for the agent to listen on. */
  path: string;
  /**
   * Moves the socket, once the agent listens, to a folder that only the service can change.
   *
   * @returns the origin of the socket.
   * @throws Error where the file is not a socket of the agent.
   */
  take: () => Promise<string>;
  /** Removes it at once. Leaves what the agent's user put beside it: removing that could be misdirected by a link. */
  remove: () => void;
}

/** A socket's path has at most 103 characters. The first folder is emptied at each boot, and holds nothing old. */
const parents = ['/run', '/tmp', tmpdir()];

const prefix = 'landfall-agent-';

async function makeFolder(): Promise<string> {
  let problem: unknown;
  for (const parent of parents) {
    try {
      return await mkdtemp(join(parent, prefix));
    } catch (error) {
      problem = error;
    }
  }
  throw new Error('No folder for the socket of an agent could be created. Make /run or /tmp writable.', {
    cause: problem,
  });
}

/**
 * Creates the folder for an agent's socket. A loopback port is free for any process once its owner exits, and the next
 * owner would receive the requests and the token; a socket's path leads to this one process or to nothing.
 *
 * An agent with a user of its own listens in a folder of that user, who could replace the socket, also by a link to
 * another one. So the service moves the socket out of there before anything connects to it.
 */
export async function openAgentSocket(user: ProcessUser | undefined): Promise<AgentSocket> {
  const folder = await makeFolder();
  const taken = join(folder, 'agent');
  const own = join(folder, 'own');
  const path = user ? join(own, 'agent') : taken;
  if (user) {
    await mkdir(own, { mode: 0o700 });
    await lchown(own, user.uid, user.gid);
    await chmod(folder, 0o711);
  }
  return {
    path,
    async take() {
      if (user) {
        await rename(path, taken);
        await chmod(folder, 0o700);
        removeIfEmpty(own);
      }
      const found = await lstat(taken);
      if (!found.isSocket() || (user && found.uid !== user.uid)) throw new Error('what lies there is no socket of it');
      return originAt(taken);
    },
    remove() {
      unlinkIfThere(taken);
      if (user) {
        unlinkIfThere(path);
        removeIfEmpty(own);
      }
      removeIfEmpty(folder);
    },
  };
}

/**
 * Removes the dead sockets that killed services of this user left. Skips those of the last minute, which may be about to
 * listen.
 */
export async function removeDeadSockets(now: number): Promise<void> {
  for (const parent of parents) {
    const names = await readdir(parent).catch(() => []);
    for (const name of names.filter((each) => each.startsWith(prefix))) {
      const folder = join(parent, name);
      const socket = join(folder, 'agent');
      // The folder belongs to this user, so no other user can replace the socket.
      const isOurs = await lstat(folder).then(
        (found) => found.isDirectory() && found.uid === process.getuid?.(),
        () => false,
      );
      const isOld = await lstat(socket).then(
        (found) => found.isSocket() && found.mtimeMs < now - 60_000,
        () => false,
      );
      if (!isOurs || !isOld || !(await isDead(socket))) continue;
      unlinkIfThere(socket);
      removeIfEmpty(folder);
    }
  }
}

function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('error', (error) => resolve('code' in error && error.code === 'ECONNREFUSED'));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never created, or its process removed it.
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is gone, or holds files of the agent's user.
  }
}
