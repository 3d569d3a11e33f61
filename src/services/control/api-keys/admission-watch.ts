import { steadyNow, type Clock } from '../../../kit/clock.ts';

/** Milliseconds between two checks of one stream; those that end before the first are never checked. */
const checkEveryMs = 15_000;

interface OpenStream {
  isAdmitted: () => Promise<boolean>;
  end: () => void;
  dueAt: number;
  isOpen: boolean;
  before: OpenStream | undefined;
  after: OpenStream | undefined;
}

/**
 * Checks every 15 s whether the callers of open streams would still be admitted: a stream can outlive its key or
 * session. One after the other, so that many streams need one connection to the database.
 */
export function admissionWatch(clock: Clock) {
  /** A linked list in the order of their next checks: a set would cost each request more than all else here. */
  let first: OpenStream | undefined;
  let last: OpenStream | undefined;
  let isRunning = false;

  function add(stream: OpenStream): void {
    stream.dueAt = steadyNow(clock) + checkEveryMs;
    stream.isOpen = true;
    stream.before = last;
    if (last) last.after = stream;
    else first = stream;
    last = stream;
  }

  /** Returns whether it was there. */
  function remove(stream: OpenStream): boolean {
    const { before, after, isOpen } = stream;
    if (!isOpen) return false;
    if (before) before.after = after;
    else first = after;
    if (after) after.before = before;
    else last = before;
    stream.isOpen = false;
    stream.before = undefined;
    stream.after = undefined;
    return true;
  }

  async function run(): Promise<void> {
    while (first) {
      const stream: OpenStream = first;
      await clock.sleep(Math.max(0, stream.dueAt - steadyNow(clock)));
      if (!remove(stream)) continue;
      add(stream);
      // A failed check says nothing about the key: the database may be unavailable for a moment.
      const isAdmitted = await stream.isAdmitted().catch(() => true);
      if (!isAdmitted && remove(stream)) stream.end();
    }
    isRunning = false;
  }

  /** Calls `end` once the caller of a stream would not be admitted any more. Returns what ends the watch. */
  return (isAdmitted: () => Promise<boolean>, end: () => void): (() => void) => {
    const stream: OpenStream = { isAdmitted, end, dueAt: 0, isOpen: false, before: undefined, after: undefined };
    add(stream);
    if (!isRunning) {
      isRunning = true;
      void run();
    }
    // The timer stays: to end and start one for each request costs more than all the rest.
    return () => void remove(stream);
  };
}
