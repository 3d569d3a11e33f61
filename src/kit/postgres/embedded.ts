import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { backoffMs, type Clock, systemClock } from '../clock.ts';
import { ensureOwnDatabase } from './databases.ts';
import { ensureCluster } from './embedded/cluster.ts';
import { lockFolder } from './embedded/folder-lock.ts';
import { addressOf, launch } from './embedded/launch.ts';
import { stopLeftover } from './embedded/orphaned-server.ts';
import { locate, makeSocketFolder, preparePrograms, socketFolderOf } from './embedded/locate.ts';
import { clusterOf, finishMove } from './embedded/placement.ts';
import type { ServerAddress } from './embedded/settings.ts';
import { retryWhileUnavailable } from './unavailable.ts';
import { defaultSystemFolder } from './embedded/system-folder.ts';
import { messageOf } from '../errors.ts';
import type { Server } from './embedded/server.ts';
import type { Logger } from '../logger.ts';

export interface EmbeddedPostgresOptions {
  /** The requested folder; it is Landfall's alone and created when absent. */
  dataDir: string;
  /** Receives a sentence about events that an operator may want to know. */
  log: Logger;
  /** Root's folder for what the server's user could not reach otherwise. */
  systemFolder?: string;
  /**
   * Settings of the server beyond ours, by name, for example `{ max_connections: '20' }`. `{ fsync: 'off' }` is for
   * data that may be lost, in tests for example.
   */
  settings?: Record<string, string>;
  /** Listen at a socket that only root and the server's user can reach, instead of a port. Only for root. */
  isClosed?: boolean;
}

/** A running Postgres of ours. */
export interface EmbeddedPostgres {
  /** Address of Landfall's own database, as the superuser; it holds the password, so it is a secret. */
  url: string;
  /** The folder of its socket, where it has no port. */
  socketFolder: string | undefined;
  /** The folder that really holds the data: the requested one, or root's, see `EmbeddedPostgresOptions`. */
  dataDir: string;
  /** Process id of the server, which changes when it ended by itself and was started again. */
  readonly pid: number;
  /** Shuts the server down fast (within 9 s in the worst case) and lets go of the folder; may be called again. */
  stop(): Promise<void>;
}

/** The database of Landfall's own tables in an embedded server. */
const ownDatabase = 'landfall';

/**
 * Starts the Postgres that comes with Landfall on a data folder, as `nobody` where we are root, because Postgres
 * refuses root. Data and programs that this user can't reach go to `/var/lib/landfall`. Stops a server that a killed
 * process left on the folder. The caller stops the server. A server that exits by itself is restarted at the same
 * address.
 *
 * @throws FolderBusyError when another process uses the folder.
 * @throws Error with the last lines of the server's log when it does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, log, systemFolder = defaultSystemFolder, settings = {} } = options;
  const clock = systemClock;
  const { user, placement } = locate(dataDir, systemFolder);
  const { requested, home } = placement;
  const lock = await lockFolder(home, requested, clock, log);
  try {
    await stopLeftover(clusterOf(home), clock, log);
    finishMove(placement, new Date(clock.now()), log);
    if (home !== requested) {
      log.info(`Postgres runs as ${user?.name}, who may not enter ${requested}; its data is in ${home}.`);
    }
    const programs = preparePrograms(home, user, systemFolder, log);
    const password = await ensureCluster(home, programs, settings['fsync'] !== 'off');
    const plan = { cluster: clusterOf(home), logFile: join(home, 'server.log'), programs, settings };
    const socketFolder = options.isClosed && user ? makeSocketFolder(home, user, systemFolder) : undefined;
    const fixed: ServerAddress | undefined = socketFolder === undefined ? undefined : { socketFolder };
    const { server, address } = await launch(home, password, plan, clock, fixed);
    // Data that was removed while the server ran is not restored.
    const again = async () =>
      existsSync(plan.cluster) ? (await launch(home, password, plan, clock, address)).server : undefined;
    const kept = keepRunning(server, again, clock, log);
    const stop = async () => {
      await kept.stop();
      if (socketFolder !== undefined) rmSync(socketFolder, { recursive: true, force: true });
      lock.release();
    };
    let stopped: Promise<void> | undefined;
    const ensuring = () => ensureOwnDatabase(addressOf(address, password, 'postgres'), ownDatabase);
    await retryWhileUnavailable(ensuring, { clock }).catch(async (error: unknown) => {
      await kept.stop();
      throw error;
    });
    return {
      url: addressOf(address, password, ownDatabase),
      socketFolder,
      dataDir: home,
      get pid() {
        return kept.pid();
      },
      stop: () => (stopped ??= stop()),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** How long to wait before the next attempt to start a server that ended, in milliseconds. */
export const pauseBefore = (attempt: number): number => backoffMs(attempt, 250, 10_000);

/**
 * Supervises a server: when it exits unexpectedly (killed by the OOM killer, say), `again` starts it at the same
 * address, for as long as it takes, unless it gives `undefined`: then there is nothing left to start.
 */
function keepRunning(first: Server, again: () => Promise<Server | undefined>, clock: Clock, log: Logger) {
  const enough = new AbortController();
  let server = first;

  async function watch(): Promise<void> {
    for (let attempt = 0; !enough.signal.aborted;) {
      const how = await server.ended;
      if (enough.signal.aborted) return;
      attempt += 1;
      if (attempt === 1) log.error(`The embedded Postgres ended by itself (${how}); it is started again.`);
      try {
        await clock.sleep(pauseBefore(attempt), enough.signal);
        const next = await again();
        if (next === undefined) return;
        server = next;
        attempt = 0;
      } catch (error) {
        if (enough.signal.aborted) return;
        log.error(`The embedded Postgres could not be started again yet: ${messageOf(error)}`);
      }
    }
  }

  const watching = watch();
  return {
    /** The process id of the server that runs now, or ran last. */
    pid: () => server.pid,
    /** Ends the server for good. */
    stop: async () => {
      enough.abort();
      await server.stop();
      await watching;
      // A server that was just starting when the stop was requested.
      await server.stop();
    },
  };
}

/**
 * Removes a data folder with everything in it, also what lies in root's folder instead, and ends a server that a
 * killed process left on it. A folder that does not exist is no error.
 *
 * @throws FolderBusyError when a process uses the folder.
 */
export async function removeEmbeddedData(
  options: Pick<EmbeddedPostgresOptions, 'dataDir' | 'log' | 'systemFolder'>,
): Promise<void> {
  const { dataDir, log, systemFolder = defaultSystemFolder } = options;
  if (!existsSync(dataDir)) return;
  const { requested, home } = locate(dataDir, systemFolder).placement;
  const lock = await lockFolder(home, requested, systemClock, log);
  try {
    await stopLeftover(clusterOf(home), systemClock, log);
    // The folder of the socket is removed by a stop, which a killed process did not come to.
    for (const folder of new Set([home, requested, socketFolderOf(home, systemFolder)]))
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } finally {
    lock.release();
  }
}
