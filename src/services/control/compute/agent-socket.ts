import { chmod, lchown, lstat, mkdir, mkdtemp, readdir, rename } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode } from '../../../kit/errors.ts';
import { removeTree } from '../builds/remove-tree.ts';
import { originAt } from '../gateway/request-agent.ts';
import type { ProcessUser } from './guarded-process.ts';

/** A socket's path has at most 103 characters. Every user may write to `/tmp` anyway; `/run` may be small. */
const parents = ['/tmp', tmpdir(), '/run'];

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
  const message = 'No folder for the socket of an agent could be made. Make /run or /tmp writable.';
  throw new Error(message, { cause: problem });
}

/**
 * A Unix socket on which only one agent can listen. A port of the loopback is free for every process once the one that
 * had it ends, and its next owner would receive the requests and the token; a socket's path leads to one process or to
 * none.
 *
 * An agent with a user of its own listens in a folder of that user, who could put anything in the socket's place, a
 * link to another socket too. So it is moved out of there before anything connects to it.
 */
export async function openAgentSocket(user: ProcessUser | undefined) {
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
    /** Moves the socket to where only the service can change it; returns its origin. @throws Error if it is none. */
    take: async (): Promise<string> => {
      if (user) {
        await rename(path, taken);
        await chmod(folder, 0o700);
        await removeTree(own);
      }
      const found = await lstat(taken);
      if (!found.isSocket() || (user && found.uid !== user.uid)) throw new Error('what lies there is no socket of it');
      return originAt(taken);
    },
    remove: () => removeTree(folder),
  };
}
export type AgentSocket = Awaited<ReturnType<typeof openAgentSocket>>;

/** Removes the sockets that killed services of this user left. One of the last minute may be about to be listened on. */
export async function removeDeadSockets(now: number): Promise<void> {
  for (const parent of parents) {
    const names = await readdir(parent).catch(() => []);
    for (const name of names.filter((each) => each.startsWith(prefix))) {
      const folder = join(parent, name);
      const socket = join(folder, 'agent');
      // The folder belongs to this user, so no other user can replace the socket.
      const owned = await lstat(folder).catch(() => undefined);
      if (!owned?.isDirectory() || owned.uid !== process.getuid?.()) continue;
      const found = await lstat(socket).catch(() => undefined);
      if (!found?.isSocket() || found.mtimeMs >= now - 60_000) continue;
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
