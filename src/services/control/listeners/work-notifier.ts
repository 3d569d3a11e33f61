import { steadyNow, untilAborted, withTimeout, type Clock } from '../../../kit/clock.ts';

export type WorkNotifier = ReturnType<typeof workNotifier>;

/** Notifies long polls that there may be work. One service works on a database, so this reaches all of them. */
export function workNotifier(clock: Clock) {
  let next = Promise.withResolvers<void>();
  let isClosed = false;
  const notify = (): void => {
    next.resolve();
    if (!isClosed) next = Promise.withResolvers<void>();
  };
  return {
    /** Milliseconds of the steady clock: what waiting is measured by. */
    now: (): number => steadyNow(clock),
    notify,
    /** Subscribes to the next notification, which is not missed even before the waiting starts. */
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
