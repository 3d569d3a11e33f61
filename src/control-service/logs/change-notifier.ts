import type { Clock } from '../../clock.ts';
import { retryWhileUnavailable } from '../../postgres/unavailable.ts';
import { listenTo, type Notifications } from '../../postgres/notifications.ts';

/** Notifies followers of a log that there may be new lines. */
export interface ChangeNotifier {
  /** This revision has changed: it has more lines, another status, or is no longer the live one. */
  notify(revisionId: string): void;
  /** Anything may have changed. */
  notifyAll(): void;
  /** Subscribes to a revision: misses no notification from now on. */
  listen(revisionId: string): ChangeSubscription;
}

/** A subscription to one revision. */
export interface ChangeSubscription {
  /** Resolves at the next notification; at once if there was one since the last call. */
  next(): Promise<void>;
  /** Ends the subscription. */
  end(): void;
}

export function changeNotifier(): ChangeNotifier {
  const subscribers = new Map<string, Set<() => void>>();
  return {
    notify(revisionId) {
      for (const hear of subscribers.get(revisionId) ?? []) hear();
    },
    notifyAll() {
      for (const those of subscribers.values()) for (const hear of those) hear();
    },
    listen(revisionId) {
      let notified = Promise.withResolvers<void>();
      const hear = (): void => notified.resolve();
      const those = subscribers.get(revisionId) ?? new Set();
      subscribers.set(revisionId, those.add(hear));
      return {
        async next() {
          const awaited = notified;
          await awaited.promise;
          if (notified === awaited) notified = Promise.withResolvers<void>();
        },
        end() {
          those.delete(hear);
          if (those.size === 0 && subscribers.get(revisionId) === those) subscribers.delete(revisionId);
        },
      };
    },
  };
}

/** The channel of the tables' triggers (migration 051). */
const channel = 'landfall_log';

/** Notifies of every committed change of a log or a revision, by any process. */
export const hearChanges = (url: string, notifier: ChangeNotifier, clock: Clock): Promise<Notifications> =>
  retryWhileUnavailable(
    () =>
      listenTo({ url, channel, heard: (id) => notifier.notify(id), reconnected: () => notifier.notifyAll(), clock }),
    { clock },
  );
