import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../../clock.ts';
import { superuser } from './cluster.ts';
import { type ServerAddress, socketPort } from './settings.ts';
import { type Server, type ServerPlan, ServerStartError, spawnServer, untilReady } from './server.ts';
import { unlessCode } from '../../errors.ts';
import { freePort, isFree } from '../../free-port.ts';
import { existingHome } from './placement.ts';

/**
 * The address of a database on an embedded server: a secret. It says that there is no TLS on the loopback, because a
 * `PGSSLMODE` in the environment would request it.
 */
export function addressOf(address: ServerAddress, password: string, database: string): string {
  if ('port' in address) {
    return `postgres://${superuser}:${password}@127.0.0.1:${address.port}/${database}?sslmode=disable`;
  }
  const host = encodeURIComponent(address.socketFolder);
  return `postgres://${superuser}:${password}@localhost:${socketPort}/${database}?host=${host}&sslmode=disable`;
}

/** Where another process finds the server of a home: what `launch` wrote there; undefined where none ever ran. */
function recordedAddress(home: string): ServerAddress | undefined {
  const [socket, port] = [join(home, 'socket'), join(home, 'port')];
  if (existsSync(socket)) return { socketFolder: readFileSync(socket, 'utf8') };
  return existsSync(port) ? { port: Number(readFileSync(port, 'utf8')) } : undefined;
}

/**
 * Starts a server and waits until it accepts connections. Transient failures are retried: a port that another process
 * took meanwhile, and the last processes of a killed server that hold on to its memory.
 *
 * @param fixed keeps to this address, because others know it; when absent it is the port of the last time if free.
 */
export async function launch(
  home: string,
  password: string,
  plan: Omit<ServerPlan, 'address'>,
  clock: Clock,
  fixed?: ServerAddress,
): Promise<{ server: Server; address: ServerAddress }> {
  const portFile = join(home, 'port');
  for (let attempt = 1; ; attempt += 1) {
    const address = fixed ?? { port: await choosePort(portFile) };
    const server = spawnServer({ ...plan, address }, clock);
    try {
      await untilReady(server, addressOf(address, password, 'postgres'), plan.logFile, clock);
      for (const name of ['port', 'socket']) rmSync(join(home, name), { force: true });
      const [name, text] = 'port' in address ? ['port', String(address.port)] : ['socket', address.socketFolder];
      writeFileSync(join(home, name), text, { mode: 0o600, flag: 'wx' });
      return { server, address };
    } catch (error) {
      await server.stop();
      if (attempt >= 20 || !(error instanceof ServerStartError) || !passes(error.said)) throw error;
      await clock.sleep(250);
    }
  }
}

/** Whether the last words of a server speak of something that passes. */
export const passes = (said: string): boolean =>
  [
    'could not create any TCP/IP sockets',
    'pre-existing shared memory block',
    'lock file "postmaster.pid" already exists',
  ].some((words) => said.includes(words));

/** A free port of 127.0.0.1: if possible that of `lastTime`, where processes that outlived us look for the server. */
export async function choosePort(lastTime: string): Promise<number> {
  const wanted = readPort(lastTime);
  return wanted !== undefined && (await isFree(wanted)) ? wanted : freePort();
}

function readPort(file: string): number | undefined {
  // One that root wrote on a data folder of ours is closed to us; any other port will do.
  const port = Number(unlessCode(['ENOENT', 'EACCES'], '', () => readFileSync(file, 'utf8')));
  return Number.isInteger(port) && port > 1023 && port < 65_536 ? port : undefined;
}

/** Whether a data folder has the data of an embedded server, wherever that lies. */
export const hasEmbeddedData = (dataDir: string): boolean => existingHome(resolve(dataDir)) !== undefined;

/**
 * The address of a database on the embedded server that another process of this user runs on a data folder: a secret.
 * Undefined where no server ever ran there; whether one runs now is seen by connecting.
 */
export function runningEmbedded(dataDir: string, database = 'landfall'): string | undefined {
  const home = existingHome(resolve(dataDir));
  if (home === undefined) return undefined;
  const address = recordedAddress(home);
  const password = join(home, 'password');
  if (address === undefined || !existsSync(password)) return undefined;
  return addressOf(address, readFileSync(password, 'utf8'), database);
}
