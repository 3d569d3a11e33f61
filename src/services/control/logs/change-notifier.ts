import type { Clock } from '../../../kit/clock.ts';
import { retryWhileUnavailable } from '../../../kit/postgres/unavailable.ts';
import { listenTo, type Notifications } from '../../../kit/postgres/notifications.ts';

export type ChangeNotifier = ReturnType<typeof changeNotifier>;

/** Notifies followers of a log that there may be new lines. */
export function changeNotifier() {
  const subscribers = new Map<string, Set<() => void>>();
  return {
    /** Call when a revision has changed: it has more lines, another status, or is no longer live. */
    notify(revisionId: string): void {
      for (const wake of subscribers.get(revisionId) ?? []) wake();
    },
    /** Call when any revision may have changed. */
    notifyAll(): void {
      for (const wakers of subscribers.values()) for (const hear of wakers) hear();
    },
    /** Subscribes to a revision: misses no notification from now on. */
    listen(revisionId: string) {
      let notified = Promise.withResolvers<void>();
      const wake = (): void => notified.resolve();
      const wakers = subscribers.get(revisionId) ?? new Set();
      subscribers.set(revisionId, wakers.add(wake));
      return {
        /** Resolves at the next notification; at once if there was one since the last call. */
        async next(): Promise<void> {
          const awaited = notified;
          await awaited.promise;
          if (notified === awaited) notified = Promise.withResolvers<void>();
        },
        end(): void {
          wakers.delete(wake);
          if (wakers.size === 0 && subscribers.get(revisionId) === wakers) subscribers.delete(revisionId);
        },
      };
    },
  };
}

/** The channel of the tables' triggers (migration 051). */
const channel = 'landfall_log';

/** Notifies followers of every committed change of a log or a revision, by any process. */
export const hearChanges = (url: string, notifier: ChangeNotifier, clock: Clock): Promise<Notifications> =>
  retryWhileUnavailable(
    () =>
      listenTo({ url, channel, heard: (id) => notifier.notify(id), reconnected: () => notifier.notifyAll(), clock }),
    { clock },
  );
