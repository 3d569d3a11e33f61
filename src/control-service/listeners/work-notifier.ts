import { pause, steadyNow } from '../../clock.ts';
import type { Clock } from '../../clock.ts';

/** Notifies long polls that there may be work. One service works on a database, so this reaches all of them. */
export interface WorkNotifier {
  /** There may be work. */
  notify(): void;
  /** Subscribes to the next notification, which is not missed even before the waiting starts. */
  listen(): NextNotification;
  /** Ends all waiting, for good. */
  close(): void;
  readonly isClosed: boolean;
  /** Milliseconds of the steady clock: what waiting is measured by. */
  now(): number;
}

/** The first notification after the subscription. */
export interface NextNotification {
  /** Resolves at the notification, after `ms` milliseconds, or when `signal` aborts. */
  within(ms: number, signal: AbortSignal | undefined): Promise<void>;
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
        async within(ms, signal) {
          const over = new AbortController();
          const ended = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
          await Promise.race([notified, pause(clock, ms, ended)]);
          over.abort();
        },
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
