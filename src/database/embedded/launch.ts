import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { superuser } from './cluster.ts';
import { choosePort } from './port.ts';
import { ServerStartError, spawnServer, untilReady } from './server.ts';
import type { Server, ServerPlan } from './server.ts';

/**
 * The address of a database on an embedded server: a secret. It says that there is no TLS on the loopback, because a
 * `PGSSLMODE` in somebody's environment would ask for it.
 */
export function addressOf(port: number, password: string, database: string): string {
  return `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
}

/**
 * Starts a server and waits until it takes connections. What passes by itself is tried again: a port that somebody
 * took meanwhile, and the last processes of a killed server that hold on to its memory.
 *
 * @param fixedPort keeps to this port, because others know it; when absent it is the one of the last time if free.
 */
export async function launch(
  home: string,
  password: string,
  plan: Omit<ServerPlan, 'port'>,
  clock: Clock,
  fixedPort?: number,
): Promise<{ server: Server; port: number }> {
  const portFile = join(home, 'port');
  for (let attempt = 1; ; attempt += 1) {
    const port = fixedPort ?? (await choosePort(portFile));
    const server = spawnServer({ ...plan, port }, clock);
    try {
      await untilReady(server, addressOf(port, password, 'postgres'), plan.logFile, clock);
      rmSync(portFile, { force: true });
      writeFileSync(portFile, String(port), { mode: 0o600, flag: 'wx' });
      return { server, port };
    } catch (error) {
      await server.stop();
      if (attempt >= 20 || !(error instanceof ServerStartError) || !passes(error.said)) throw error;
      await clock.sleep(250);
    }
  }
}

/** Whether the last words of a server speak of something that passes. */
export function passes(said: string): boolean {
  return (
    said.includes('could not create any TCP/IP sockets') ||
    said.includes('pre-existing shared memory block') ||
    said.includes('lock file "postmaster.pid" already exists')
  );
}
