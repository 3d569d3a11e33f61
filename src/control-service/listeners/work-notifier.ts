import { steadyNow, untilAborted, withTimeout, type Clock } from '../../clock.ts';

/** Notifies long polls that there may be work. One service works on a database, so this reaches all of them. */
export interface WorkNotifier {
  /** There may be work. */
  notify(): void;
  /** Subscribes to the next notification, which is not missed even before the waiting starts. */
  listen(): {
    /** Resolves at the notification, after `ms` milliseconds, or when `signal` aborts. */
    within(ms: number, signal: AbortSignal | undefined): Promise<void>;
  };
  /** Ends all waiting, for good. */
  close(): void;
  readonly isClosed: boolean;
  /** Milliseconds of the steady clock: what waiting is measured by. */
  now(): number;
}

export function workNotifier(clock: Clock): WorkNotifier {
  let next = Promise.withResolvers<void>();
  let isClosed = false;
  const notify = (): void => {
    next.resolve();
    if (!isClosed) next = Promise.withResolvers<void>();
  };
  return {
    now: () => steadyNow(clock),
    notify,
    listen() {
      const notified = next.promise;
      return {
        within: (ms, signal) =>
          withTimeout(clock, ms, (ended) => Promise.race([notified, untilAborted(ended)]), signal),
      };
    },
    close() {
      isClosed = true;
      notify();
    },
    get isClosed() {
      return isClosed;
    },
  };
}
