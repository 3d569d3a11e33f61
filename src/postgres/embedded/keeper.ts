import { backoffMs, type Clock } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import type { Server } from './server.ts';

/** A server that is started again whenever it ends by itself. */
export interface KeptServer {
  /** The process id of the server that runs now, or ran last. */
  pid(): number;
  /** Ends the server for good. */
  stop(): Promise<void>;
}

/** How long to wait before the next attempt to start a server that ended, in milliseconds. */
export const pauseBefore = (attempt: number): number => backoffMs(attempt, 250, 10_000);

/**
 * Supervises a server: when it exits unexpectedly (killed by the OOM killer, say), it is started again,
 * at the same address, for as long as it takes.
 *
 * @param again starts the server anew; gives `undefined` when there is nothing left to start.
 */
export function keepRunning(
  first: Server,
  again: () => Promise<Server | undefined>,
  clock: Clock,
  log: (message: string) => void,
): KeptServer {
  const enough = new AbortController();
  let server = first;

  async function watch(): Promise<void> {
    for (let attempt = 0; !enough.signal.aborted;) {
      const how = await server.ended;
      if (enough.signal.aborted) return;
      attempt += 1;
      if (attempt === 1) log(`The embedded Postgres ended by itself (${how}); it is started again.`);
      try {
        await clock.sleep(pauseBefore(attempt), enough.signal);
        const next = await again();
        if (next === undefined) return;
        server = next;
        attempt = 0;
      } catch (error) {
        if (enough.signal.aborted) return;
        log(`The embedded Postgres could not be started again yet: ${messageOf(error)}`);
      }
    }
  }

  const watching = watch();
  return {
    pid: () => server.pid,
    stop: async () => {
      enough.abort();
      await server.stop();
      await watching;
      // A server that was just starting when the stop was requested.
      await server.stop();
    },
  };
}
