import { Client } from 'pg';
import { messageOf } from '../errors.ts';
import { steadyClock } from '../clock.ts';
import { startEmbeddedPostgres } from './embedded.ts';
import { retryWhileUnavailable, isDatabaseStarting } from './unavailable.ts';
import type { Logger } from '../logger.ts';

/** Where Landfall's database comes from. */
interface DatabaseSource {
  /** `DATABASE_URL`; empty counts as absent. */
  databaseUrl?: string | undefined;
  /** The folder of the embedded server, used when there is no address. */
  dataDir: string;
  log: Logger;
}

/** A database that is there until it is closed. */
interface ResolvedDatabase {
  /** Address with user and password: a secret. */
  url: string;
  /** Whether the server is ours, on this machine. */
  embedded: boolean;
  /** The folder of its socket, where it is ours and closed to all but root: others need a relay. */
  socketFolder?: string | undefined;
  /** Stops the server if it is ours. */
  close(): Promise<void>;
}

/**
 * The one Postgres of this installation: the person's own where an address is given, else the embedded one.
 *
 * @throws Error when the address is not one of Postgres or does not respond, or as `startEmbeddedPostgres` does.
 */
export async function resolveDatabase({ databaseUrl, dataDir, log }: DatabaseSource): Promise<ResolvedDatabase> {
  if (databaseUrl !== undefined && databaseUrl !== '') {
    const url = checkAddress(databaseUrl);
    await retryWhileUnavailable(() => checkConnection(url), { clock: steadyClock, isPassing: isDatabaseStarting });
    return { url, embedded: false, close: async () => undefined };
  }
  // Where we are root, agents have users of their own, who get to the database by a relay that bounds them.
  const server = await startEmbeddedPostgres({ dataDir, log, isClosed: process.getuid?.() === 0 });
  const { url, socketFolder } = server;
  return { url, embedded: true, socketFolder, close: () => server.stop() };
}

function checkAddress(address: string): string {
  const scheme = URL.canParse(address) ? new URL(address).protocol : undefined;
  if (scheme === 'postgres:' || scheme === 'postgresql:') return address;
  throw new Error(
    'DATABASE_URL is not the address of a Postgres database. Write it as postgres://user:password@host:5432/database.',
  );
}

async function checkConnection(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // The attempt in progress reports a broken connection; the event is a duplicate.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw new Error(
      `The database at DATABASE_URL can't be used (${messageOf(error)}). Check its host and port, user, password, database and sslmode, and that the server runs.`,
      { cause: error },
    );
  }
  await client.end();
}
