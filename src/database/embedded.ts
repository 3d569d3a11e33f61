import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client, escapeIdentifier } from 'pg';
import type { Clock } from '../clock.ts';
import { systemClock } from '../clock.ts';
import { ensureCluster, superuser } from './embedded/cluster.ts';
import { lockFolder } from './embedded/folder-lock.ts';
import { stopLeftover } from './embedded/leftover.ts';
import { clusterOf, existingCluster, placeData, settleMove } from './embedded/placement.ts';
import { choosePort } from './embedded/port.ts';
import { preparePrograms, readPasswd } from './embedded/programs.ts';
import { chooseServerUser } from './embedded/server-user.ts';
import { ServerStartError, spawnServer, untilReady } from './embedded/server.ts';
import type { Server, ServerPlan } from './embedded/server.ts';
import { defaultSystemFolder } from './embedded/system-folder.ts';

/** How an embedded Postgres is started. */
export interface EmbeddedPostgresOptions {
  /** The folder asked for; it is Landfall's alone and made when absent. */
  dataDir: string;
  /** Told a sentence when something happens that a person may want to know. */
  log: (message: string) => void;
  clock?: Clock;
  /** Root's folder for what the server's user could not reach otherwise. */
  systemFolder?: string;
  /** Settings of the server beyond ours, by name, for example `{ max_connections: '20' }`. */
  settings?: Record<string, string>;
}

/** A running Postgres of ours. */
export interface EmbeddedPostgres {
  /** Address of Landfall's own database, as the superuser; it holds the password, so it is a secret. */
  url: string;
  /** The folder that really holds the data: the requested one, or root's, see `EmbeddedPostgresOptions`. */
  dataDir: string;
  /** Process id of the server. */
  readonly pid: number;
  /** Shuts the server down fast (within 9 s in the worst case) and lets go of the folder. */
  stop(): Promise<void>;
}

/** The database of Landfall's own tables in an embedded server. */
const ownDatabase = 'landfall';

/**
 * Starts the Postgres that comes with Landfall on a data folder of its own.
 *
 * Run as root it starts the server as `nobody`, because Postgres refuses root. What that user can't reach, data or
 * programs, lies in `/var/lib/landfall`. A server that a killed process left on the folder is stopped first. The
 * caller stops the server; nothing here listens to signals.
 *
 * @throws FolderBusyError when another process uses the folder.
 * @throws Error with the last lines of the server's log when it does not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, log, clock = systemClock, systemFolder = defaultSystemFolder } = options;
  const cluster = existingCluster(resolve(dataDir));
  const owner = cluster === undefined ? undefined : statSync(cluster);
  const user = chooseServerUser(process.getuid?.(), owner, readPasswd());
  const placement = placeData(dataDir, user, systemFolder);
  const { requested, home } = placement;
  const lock = await lockFolder(home, requested, clock, log);
  try {
    await stopLeftover(clusterOf(home), clock, log);
    settleMove(placement, new Date(clock.now()), log);
    if (home !== requested)
      log(`Postgres runs as ${user?.name}, who may not enter ${requested}; its data is in ${home}.`);
    const programs = preparePrograms(home, user, systemFolder, log);
    const password = await ensureCluster(home, programs);
    const plan = {
      cluster: clusterOf(home),
      logFile: join(home, 'server.log'),
      programs,
      settings: options.settings ?? {},
    };
    const { server, url } = await startOnFreePort(home, password, plan, clock);
    return {
      url,
      dataDir: home,
      pid: server.pid,
      stop: async () => {
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startOnFreePort(
  home: string,
  password: string,
  plan: Omit<ServerPlan, 'port'>,
  clock: Clock,
): Promise<{ server: Server; url: string }> {
  const portFile = join(home, 'port');
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(portFile);
    const address = (database: string) => `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;
    const server = spawnServer({ ...plan, port }, clock);
    try {
      await untilReady(server, address('postgres'), plan.logFile, clock);
      await ensureOwnDatabase(address('postgres'));
      writeFileSync(portFile, String(port), { mode: 0o600 });
      return { server, url: address(ownDatabase) };
    } catch (error) {
      await server.stop();
      if (attempt >= 20 || !(error instanceof ServerStartError) || !passes(error)) throw error;
      rmSync(portFile, { force: true });
      await clock.sleep(250);
    }
  }
}

/** Somebody took the port since we looked, or the last processes of a killed server are not gone yet. */
function passes({ said }: ServerStartError): boolean {
  return said.includes('could not create any TCP/IP sockets') || said.includes('pre-existing shared memory block');
}

async function ensureOwnDatabase(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const found = await client.query('select from pg_database where datname = $1', [ownDatabase]);
    if (found.rowCount === 0) await client.query(`create database ${escapeIdentifier(ownDatabase)}`);
    // A deployment's role may only connect to its own database, not to these.
    for (const database of ['postgres', 'template1', ownDatabase]) {
      await client.query(`revoke connect, temporary on database ${escapeIdentifier(database)} from public`);
    }
  } finally {
    await client.end();
  }
}
