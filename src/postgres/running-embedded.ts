import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { addressOf, recordedAddress } from './embedded/launch.ts';
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
  const address = recordedAddress(home);
  const password = join(home, 'password');
  if (address === undefined || !existsSync(password)) return undefined;
  return addressOf(address, readFileSync(password, 'utf8'), database);
}
