import { steadyNow, untilAborted, withTimeout, type Clock } from '../../../kit/clock.ts';

export type WorkNotifier = ReturnType<typeof workNotifier>;

/** Notifies long polls that there may be work. Only one service uses a database, so this reaches all of them. */
export function workNotifier(clock: Clock) {
  let next = Promise.withResolvers<void>();
  let isClosed = false;
  const notify = (): void => {
    next.resolve();
    if (!isClosed) next = Promise.withResolvers<void>();
  };
  return {
    /** The time of the steady clock (ms), by which waiting is measured. */
    now: (): number => steadyNow(clock),
    notify,
    /** Subscribes to the next notification: one that comes before `within` is called is not missed. */
    listen() {
      const notified = next.promise;
      return {
        /** Resolves at the notification, after `ms` milliseconds, or when `signal` aborts. */
        within: (ms: number, signal: AbortSignal | undefined): Promise<void> =>
          withTimeout(clock, ms, (ended) => Promise.race([notified, untilAborted(ended)]), signal),
      };
    },
    /** Ends all waiting, for good. */
    close(): void {
      isClosed = true;
      notify();
    },
    get isClosed(): boolean {
      return isClosed;
    },
  };
}
