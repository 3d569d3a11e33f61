import { Client } from 'pg';
import { backoffMs, pause, type Clock } from '../clock.ts';

interface NotificationsOptions {
  /** Address with user and password: a secret. */
  url: string;
  /** The channel, as in `notify <channel>`; lower-case letters and underscores. */
  channel: string;
  /** Called for every notification. */
  heard: (payload: string) => void;
  /** Called when listening resumes after the connection was lost: notifications in between were missed. */
  reconnected: () => void;
  clock: Clock;
}

/** Something that listens until it is closed. */
export interface Notifications {
  close(): Promise<void>;
}

/**
 * Listens to a channel of the database (`LISTEN`), on a connection of its own. Where that is lost it is made again, as
 * often as it takes. Throws when the first connection cannot be made.
 */
export async function listenTo(options: NotificationsOptions): Promise<Notifications> {
  const { url, channel, heard, reconnected, clock } = options;
  const closing = new AbortController();
  let client = await connect();

  async function connect(): Promise<Client> {
    const next = new Client({
      connectionString: url,
      application_name: 'landfall-notifications',
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    });
    // The end of the connection, which follows, is what counts.
    next.on('error', () => undefined);
    await next.connect();
    next.on('notification', ({ payload }) => heard(payload ?? ''));
    next.on('end', () => void (closing.signal.aborted ? undefined : connectAgain()));
    await next.query(`listen ${channel}`);
    return next;
  }

  async function connectAgain(): Promise<void> {
    for (let attempt = 1; !closing.signal.aborted; attempt += 1) {
      await pause(clock, backoffMs(attempt, 100, 5_000), closing.signal);
      try {
        const again = closing.signal.aborted ? undefined : await connect();
        if (again) client = again;
        if (again && closing.signal.aborted) await again.end();
        reconnected();
        return;
      } catch (error) {
        // The database is coming back; other failures are reported by the queries that meet them.
        if (!(error instanceof Error)) throw error;
      }
    }
  }

  return {
    async close() {
      closing.abort();
      await client.end();
    },
  };
}
