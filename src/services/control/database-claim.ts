import { Client } from 'pg';
import { type Clock, steadyNow } from '../../kit/clock.ts';
import { retryWhileUnavailable, throttleMessages } from '../../kit/postgres/unavailable.ts';
import type { Logger } from '../../kit/logger.ts';

/** How long to wait for a previous service to exit, and the polling interval, in milliseconds. */
const maxWaitMs = 5_000;
const pollMs = 250;

/**
 * Makes sure that no other control service uses this database, by a lock that is taken again after a restart of the
 * database; where another service was faster, `log` says so. @throws Error when another one has the database.
 */
export async function claimDatabase(url: string, clock: Clock, log: Logger) {
  const released = new AbortController();
  const report = throttleMessages((message) => log.warn(message), clock);
  let client = await firstClaim();

  async function attempt(): Promise<Client | undefined> {
    const next = new Client({
      connectionString: url,
      application_name: 'landfall-claim',
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    });
    let isHeld = false;
    next.on('error', () => undefined);
    next.on('end', () => {
      if (isHeld && !released.signal.aborted) void claimAgain();
    });
    await next.connect();
    const { rows } = await next.query<{ held: boolean }>(
      "select pg_try_advisory_lock(hashtext('landfall control service')) as held",
    );
    isHeld = rows[0]?.held === true;
    if (isHeld) return next;
    await next.end();
    return undefined;
  }

  async function firstClaim(): Promise<Client> {
    const until = steadyNow(clock) + maxWaitMs;
    for (;;) {
      const held = await retryWhileUnavailable(attempt, { clock });
      if (held) return held;
      if (steadyNow(clock) >= until) {
        throw new Error(
          'Another control service works on this database. Stop it, or give this one another database: set DATABASE_URL, or leave it out and choose another --data folder.',
        );
      }
      await clock.sleep(pollMs);
    }
  }

  async function claimAgain(): Promise<void> {
    while (!released.signal.aborted) {
      await clock.sleep(pollMs);
      try {
        const held = await attempt();
        if (held && !released.signal.aborted) client = held;
        else if (held) await held.end();
        else report('Another control service works on this database now. Stop one of the two.');
        if (held) return;
      } catch (error) {
        // The database is restarting; its users report other errors.
        if (!(error instanceof Error)) throw error;
      }
    }
  }

  return {
    /** Lets another service have the database. */
    async release(): Promise<void> {
      released.abort();
      await client.end();
    },
  };
}
