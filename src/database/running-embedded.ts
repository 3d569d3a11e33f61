import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { addressOf } from './embedded/launch.ts';
import { existingHome } from './embedded/placement.ts';

/** Whether a data folder has the data of an embedded server, wherever that lies. */
export const hasEmbeddedData = (dataDir: string): boolean => existingHome(resolve(dataDir)) !== undefined;

/**
 * The address of a database on the embedded server that another process of this user runs on a data folder: a secret.
 * Undefined where no server ever ran there; whether one runs now is seen by connecting.
 */
export function runningEmbedded(dataDir: string, database = 'landfall'): string | undefined {
  const home = existingHome(resolve(dataDir));
  if (home === undefined) return undefined;
  const [port, password] = [join(home, 'port'), join(home, 'password')];
  if (!existsSync(port) || !existsSync(password)) return undefined;
  return addressOf(Number(readFileSync(port, 'utf8')), readFileSync(password, 'utf8'), database);
}
