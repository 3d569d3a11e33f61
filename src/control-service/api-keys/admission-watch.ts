import { steadyNow, type Clock } from '../../clock.ts';

/** Milliseconds between two checks of one stream; those that end before the first are never checked. */
const checkEveryMs = 15_000;

interface OpenStream {
  isAdmitted: () => Promise<boolean>;
  end: () => void;
  dueAt: number;
}

/**
 * Checks while streams are open whether their callers would still be admitted: a stream can outlive the key or the
 * session that opened it. Each stream is checked every 15 s, whatever it sends. The checks run one after the other, by
 * one timer, so that many streams need no more than one connection to the database.
 */
export function admissionWatch(clock: Clock) {
  /** In the order of their next checks. */
  const open = new Set<OpenStream>();
  let isRunning = false;

  async function run(): Promise<void> {
    for (;;) {
      // A new iterator each time: one that is kept makes each change of the set dearer.
      const [stream] = open;
      if (!stream) break;
      await clock.sleep(Math.max(0, stream.dueAt - steadyNow(clock)));
      if (!open.delete(stream)) continue;
      stream.dueAt = steadyNow(clock) + checkEveryMs;
      open.add(stream);
      // A failed check says nothing about the key: the database may be unavailable for a moment.
      const isAdmitted = await stream.isAdmitted().catch(() => true);
      if (!isAdmitted && open.delete(stream)) stream.end();
    }
    isRunning = false;
  }

  /**
   * Calls `end` when the caller of a stream would not be admitted any more, once. Returns a function to call when the
   * stream has ended.
   */
  return (isAdmitted: () => Promise<boolean>, end: () => void): (() => void) => {
    const stream = { isAdmitted, end, dueAt: steadyNow(clock) + checkEveryMs };
    open.add(stream);
    if (!isRunning) {
      isRunning = true;
      void run();
    }
    // The timer stays: to end and start one for each request costs more than all the rest.
    return () => void open.delete(stream);
  };
}
