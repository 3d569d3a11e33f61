import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { stackOf } from '../../errors.ts';
import { folderKey } from '../embedded/placement.ts';
import { defaultSystemFolder, ensureRootFolder } from '../embedded/system-folder.ts';
import { placesForAgents, socketPort } from '../embedded/settings.ts';
import type { FairRelayOptions } from './fair-relay.ts';
import type { Pool } from 'pg';
import type { OpenResult, OpenRequest, TerminateRequest } from './relay-thread.ts';
import type { Logger } from '../../logger.ts';

/** The most connections of one group, whatever it requests: the rest is for others. */
const maxPlacesOfOne = Math.floor(placesForAgents * 0.6);

/** How long (ms) until a thread that broke down is started again. */
const pauseMs = 200;

/**
 * Starts a relay before an embedded server that only root and the server's own user can reach. It has a thread of its
 * own: what agents and their databases say to each other does not pass through the event loop of the service.
 *
 * @param host the folder of the server's socket.
 * @param pool connections of the service's own role, which ends processes whose client has hung up.
 */
export function startRelay(host: string, pool: Pick<Pool, 'query'>, log: Logger) {
  const folder = join(ensureRootFolder(defaultSystemFolder), `relay-${folderKey(host)}`);
  rmSync(folder, { recursive: true, force: true });
  ensureRootFolder(folder);
  // Groups pass through and see no other group's socket.
  chmodSync(folder, 0o711);
  const options: FairRelayOptions = { target: join(host, `.s.PGSQL.${socketPort}`), places: placesForAgents };
  const ways = new Map<string, { gid: number; limit: number }>();
  const pending = new Map<string, ((opened: OpenResult) => void)[]>();
  let closing = false;
  let worker = start();

  function start(): Worker {
    const made = new Worker(threadFile, { workerData: options, env: {}, execArgv: [] });
    made.unref();
    made.on('message', (message: OpenResult | TerminateRequest) => {
      if ('pid' in message) return void terminate(message.pid);
      for (const done of pending.get(message.path)?.splice(0) ?? []) done(message);
    });
    made.on('error', (error) => log.error(`The relay of the agents' databases broke down: ${error.message}`));
    made.on('exit', () => {
      if (closing) return;
      setTimeout(() => {
        if (closing) return;
        worker = start();
        for (const [path, { gid, limit }] of ways)
          void openAt(path, gid, limit).catch((error) => log.error(stackOf(error)));
      }, pauseMs);
    });
    return made;
  }

  async function terminate(pid: number): Promise<void> {
    const text = `select pg_terminate_backend(pid) from pg_stat_activity
      where pid = $1 and backend_type = 'client backend' and usename <> current_user`;
    await pool
      .query(text, [pid])
      .catch((error: unknown) => log.error(`A query of a closed connection could not be ended: ${stackOf(error)}`));
  }

  async function openAt(path: string, gid: number, limit: number): Promise<void> {
    const known = ways.has(path);
    ways.set(path, { gid, limit });
    const waiting = pending.get(path) ?? [];
    pending.set(path, waiting);
    const { problem } = await new Promise<OpenResult>((resolve) => {
      waiting.push(resolve);
      worker.postMessage({ path, limit } satisfies OpenRequest, []);
    });
    if (problem === undefined) {
      chownSync(path, 0, gid);
      chmodSync(path, 0o660);
      return;
    }
    if (!known) ways.delete(path);
    throw new Error(`The way to an agent's database could not be opened (${problem}). Look into ${folder}.`);
  }

  return {
    /**
     * Opens the way of one group of this machine, which may hold `requested` connections at once, also those that have
     * not logged in. Returns the folder of the socket: the `host` of an address.
     */
    async wayFor(gid: number, requested: number): Promise<string> {
      const limit = Math.min(requested, maxPlacesOfOne);
      const way = join(folder, String(gid));
      const path = join(way, `.s.PGSQL.${socketPort}`);
      // Closed until the socket is the group's.
      if (!ways.has(path)) mkdirSync(way, { recursive: true, mode: 0o700 });
      await openAt(path, gid, limit);
      chownSync(way, 0, gid);
      chmodSync(way, 0o750);
      return way;
    },
    async close(): Promise<void> {
      closing = true;
      await worker.terminate();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The thread's file: a source file beside this one, or what is built beside the command line. */
const threadFile = new URL(
  import.meta.url.endsWith('.ts') ? './relay-thread.ts' : './database-relay.js',
  import.meta.url,
);
