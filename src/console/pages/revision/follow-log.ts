import { logEntry, type LogEntry, type LogPage } from '../../../contract/control/log.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { messageOf } from '../../../kit/errors.ts';
import { parseEvents } from '../../../kit/sse/parse-events.ts';

/** The state of reading a log. */
export type FollowState =
  | { kind: 'loading' }
  /** All existing lines are loaded; new ones arrive as they are written. */
  | { kind: 'live' }
  | { kind: 'reconnecting'; reason: string }
  /** There will be no more lines. */
  | { kind: 'complete' }
  | { kind: 'failed'; reason: string };

/** The number of lines in a page of a log; a shorter page is currently the last one. */
export const pageSize = 1_000;
const maxEventBytes = 4_000_000;

export interface FollowedLog {
  /** The id of the last loaded line. */
  lastId: () => string | undefined;
  readPage: (after: string | undefined, signal: AbortSignal) => Promise<LogPage>;
  /** Undefined if the log is complete. */
  openStream: (after: string | undefined, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Whether a retry would fail too. */
  isFinal: (error: unknown) => boolean;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  onLines: (lines: readonly LogEntry[]) => void;
  onState: (state: FollowState) => void;
}

/**
 * Reads a log in pages and then follows it, until it is complete or `signal` aborts. After a broken connection it
 * continues from the last line, first at once and then with growing delays.
 */
export async function followLog(log: FollowedLog, signal: AbortSignal): Promise<void> {
  let failures = 0;
  log.onState({ kind: 'loading' });
  while (!signal.aborted) {
    let reason = 'The connection was closed.';
    try {
      await readPages(log, signal);
      const chunks = await log.openStream(log.lastId(), signal);
      if (!chunks) return log.onState({ kind: 'complete' });
      log.onState({ kind: 'live' });
      failures = 0;
      for await (const { event, data } of parseEvents(chunks, { maxEventBytes: maxEventBytes })) {
        if (event === 'end') return log.onState({ kind: 'complete' });
        const line = event === 'log' ? logEntry.safeParse(fromJson(data)) : undefined;
        if (line?.success) log.onLines([line.data]);
      }
    } catch (error) {
      if (signal.aborted) return;
      reason = messageOf(error);
      if (log.isFinal(error)) return log.onState({ kind: 'failed', reason });
    }
    if (signal.aborted) return;
    log.onState({ kind: 'reconnecting', reason });
    await log.wait(backoffMs(failures), signal);
    failures += 1;
  }
}

async function readPages({ lastId, readPage, onLines }: FollowedLog, signal: AbortSignal): Promise<void> {
  for (;;) {
    const before = lastId();
    const { logs } = await readPage(before, signal);
    onLines(logs);
    if (logs.length < pageSize || lastId() === before) return;
  }
}

/** The delay before the next attempt: 0.25 s to 8 s. */
const backoffMs = (failures: number): number => Math.min(8_000, 250 * 2 ** failures);
