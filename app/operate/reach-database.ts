import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../src/errors.ts';
import { addressOf, recordedAddress } from '../../src/postgres/embedded/launch.ts';
import { existingHome } from '../../src/postgres/embedded/placement.ts';
import { environment } from '../settings/environment.ts';
import type { Variables } from '../settings/read-settings.ts';

/** The URL of this App's database, or why it is unknown. It is a secret. */
export type ReachedDatabase = { ok: true; url: string } | { ok: false; problem: string };

const settings = environment.pick({ DATABASE_URL: true, LANDFALL_DATA: true });

/**
 * Finds the database of the App whose settings these are: the one at `DATABASE_URL`, else the embedded one, which is
 * there for as long as the App runs. Nothing is started.
 */
export function reachDatabase(variables: Variables): ReachedDatabase {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value?.trim()));
  const read = settings.safeParse(given);
  if (!read.success) {
    return { ok: false, problem: read.error.issues.map(({ path, message }) => `${path.join()} ${message}.`).join(' ') };
  }
  const { DATABASE_URL, LANDFALL_DATA } = read.data;
  return DATABASE_URL === undefined ? embeddedAt(join(LANDFALL_DATA, 'postgres')) : { ok: true, url: DATABASE_URL };
}

function embeddedAt(folder: string): ReachedDatabase {
  const advice = 'Run this where the App runs, with its settings, or set DATABASE_URL or LANDFALL_DATA.';
  try {
    const home = existingHome(folder);
    const file = (name: string): string => join(home ?? folder, name);
    const address = home === undefined ? undefined : recordedAddress(home);
    if (address === undefined) {
      return { ok: false, problem: `There is no database of an App in ${folder}. ${advice}` };
    }
    return { ok: true, url: addressOf(address, readFileSync(file('password'), 'utf8').trim(), 'landfall') };
  } catch (error) {
    return { ok: false, problem: `The database in ${folder} can't be reached (${messageOf(error)}). ${advice}` };
  }
}
