import { chmod, lchown, lstat, mkdir, mkdtemp, readdir, rename } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode } from '../../../kit/errors.ts';
import { removeTree } from '../builds/remove-tree.ts';
import { originAt } from '../gateway/request-agent.ts';
import type { ProcessUser } from './guarded-process.ts';

/** Short paths, because that of a socket has at most 103 characters. `/run` is last: it may be small. */
const parentFolders = ['/tmp', tmpdir(), '/run'];

const prefix = 'landfall-agent-';

async function makeFolder(): Promise<string> {
  let problem: unknown;
  for (const parent of parentFolders) {
    try {
      return await mkdtemp(join(parent, prefix));
    } catch (error) {
      problem = error;
    }
  }
  const message = 'No folder for the socket of an agent could be made. Make /run or /tmp writable.';
  throw new Error(message, { cause: problem });
}

/**
 * Creates the folder of a Unix socket on which only one agent can listen. A port would not do: when a process ends, any
 * other one can take its port, and would receive the requests with their token.
 *
 * An agent with a user of its own listens in a folder of that user, who could replace the socket, also by a link to
 * another one. So the socket is moved out of that folder before anything connects to it.
 */
export async function openAgentSocket(user: ProcessUser | undefined) {
  const folder = await makeFolder();
  const finalPath = join(folder, 'agent');
  const userFolder = join(folder, 'own');
  const path = user ? join(userFolder, 'agent') : finalPath;
  if (user) {
    await mkdir(userFolder, { mode: 0o700 });
    await lchown(userFolder, user.uid, user.gid);
    await chmod(folder, 0o711);
  }
  return {
    path,
    /** Moves the socket to where only this service can change it; returns its origin. @throws Error if it is no socket. */
    take: async (): Promise<string> => {
      if (user) {
        await rename(path, finalPath);
        await chmod(folder, 0o700);
        await removeTree(userFolder);
      }
      const socketStat = await lstat(finalPath);
      if (!socketStat.isSocket() || (user && socketStat.uid !== user.uid))
        throw new Error('what lies there is no socket of it');
      return originAt(finalPath);
    },
    remove: () => removeTree(folder),
  };
}
export type AgentSocket = Awaited<ReturnType<typeof openAgentSocket>>;

/** Removes the sockets that killed services of this user left. Keeps those of the last minute: an agent may be starting. */
export async function removeDeadSockets(now: number): Promise<void> {
  for (const parent of parentFolders) {
    const names = await readdir(parent).catch(() => []);
    for (const name of names.filter((each) => each.startsWith(prefix))) {
      const folder = join(parent, name);
      const socket = join(folder, 'agent');
      // The folder belongs to this user, so no other user can replace the socket.
      const folderStat = await lstat(folder).catch(() => undefined);
      if (!folderStat?.isDirectory() || folderStat.uid !== process.getuid?.()) continue;
      const socketStat = await lstat(socket).catch(() => undefined);
      if (!socketStat?.isSocket() || socketStat.mtimeMs >= now - 60_000) continue;
      if (await isDead(socket)) await removeTree(folder);
    }
  }
}

function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('error', (error) => resolve(hasCode(error, 'ECONNREFUSED')));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}
