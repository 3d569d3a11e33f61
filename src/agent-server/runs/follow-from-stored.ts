import type { Clock } from '../../clock.ts';
import type { EventLog, Followable } from './event-buffer.ts';
import type { RunEvents } from './run-events.ts';
import { retryWhileDatabaseDown } from './retry-while-database-down.ts';
import type { Logger } from '../../logger.ts';

/** The events of a resumable run of this process: events that its log does not have are read from the database. */
export function followFromStored(
  runId: string,
  log: EventLog,
  { events, clock, log: complain }: { events: RunEvents; clock: Clock; log: Logger },
): Followable {
  return {
    follow(follower, afterId = -1) {
      if (afterId + 1 >= log.complete) return log.follow(follower, afterId);
      const stopped = new AbortController();
      let unfollow = (): void => stopped.abort();
      let after = afterId;
      /** @returns whether there were any. */
      const readSome = async (): Promise<boolean> => {
        const { complete } = log;
        const [page] = await retryWhileDatabaseDown(() => events.after([{ runId, after }]), clock, stopped.signal);
        const missed = (page?.events ?? []).filter(({ id }) => id < complete);
        for (const event of missed) if (!stopped.signal.aborted) follower(event);
        after = missed.at(-1)?.id ?? after;
        return missed.length > 0;
      };
      const read = async (): Promise<void> => {
        while (!stopped.signal.aborted && after + 1 < log.complete && (await readSome()));
      };
      const goOn = (): void => {
        if (!stopped.signal.aborted) unfollow = log.follow(follower, after);
      };
      read()
        // Continues with new events if the old ones can't be read.
        .catch((error: unknown) => {
          if (!stopped.signal.aborted)
            complain.error({ runId }, `Events of run ${runId} can't be read: ${String(error)}`);
        })
        .finally(goOn);
      return () => unfollow();
    },
  };
}
