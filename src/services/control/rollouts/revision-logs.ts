import { stackOf } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import type { WriteLine } from '../compute/log-line.ts';
import type { NewLogLine } from '../logs/repository.ts';
import type { ControlStore } from '../store/store.ts';
import type { LogKind } from '../store/tables.ts';
import type { Logger } from '../../../kit/logger.ts';

/** One log of one revision, written to the database in batches. */
export interface LogWriter {
  write: WriteLine;
  /** Resolves when all lines so far are stored, or the database was unavailable. */
  flush(): Promise<void>;
}

interface RevisionLogsDependencies {
  store: Pick<ControlStore, 'appendLog' | 'trimLog'>;
  clock: Clock;
  log: Logger;
  /** Aborts when the service stops: then only `flush` writes. */
  signal: AbortSignal;
}

const batchMs = 100;
/** How long to wait before another attempt to write lines that the database could not store. */
const retryMs = 1_000;
const maxBatchLines = 500;
/** The most lines that are buffered while the database is unavailable; beyond it the oldest are dropped, and counted. */
const maxBufferedLines = 10_000;
const linesBetweenTrims = 5_000;

export function revisionLogs(settings: RevisionLogsDependencies) {
  const pendingWriters = new Set<LogWriter>();
  return {
    open: (revisionId: string, kind: LogKind): LogWriter => logWriter(revisionId, kind, pendingWriters, settings),
    async flush(): Promise<void> {
      await Promise.all([...pendingWriters].map((writer) => writer.flush()));
    },
  };
}
export type RevisionLogs = ReturnType<typeof revisionLogs>;

function logWriter(
  revisionId: string,
  kind: LogKind,
  pendingWriters: Set<LogWriter>,
  { store, clock, log, signal }: RevisionLogsDependencies,
): LogWriter {
  const buffer: NewLogLine[] = [];
  let dropped = 0;
  let linesSinceTrim = 0;
  let scheduledFlush: Promise<void> | undefined;
  /** One statement at a time, to keep the order of lines. */
  let lastWrite = Promise.resolve();

  async function writeBuffer(): Promise<void> {
    while (buffer.length > 0) {
      const lines = buffer.splice(0, maxBatchLines);
      const droppedBefore = dropped;
      try {
        await store.appendLog(
          revisionId,
          kind,
          droppedBefore === 0 ? lines : [droppedNotice(droppedBefore, lines), ...lines],
        );
      } catch (error) {
        if (isDatabaseUnavailable(error)) return bufferLines([...lines, ...buffer.splice(0)]);
        log.error({ revisionId }, `Lines of the ${kind} log of revision ${revisionId} were lost: ${stackOf(error)}`);
      }
      dropped -= droppedBefore;
      linesSinceTrim += lines.length;
      if (linesSinceTrim >= linesBetweenTrims) await trim();
    }
    pendingWriters.delete(writer);
  }

  async function trim(): Promise<void> {
    linesSinceTrim = 0;
    try {
      await store.trimLog(revisionId, kind);
    } catch (error) {
      log.error({ revisionId }, `The ${kind} log of revision ${revisionId} could not be trimmed: ${stackOf(error)}`);
    }
  }

  function bufferLines(lines: readonly NewLogLine[]): void {
    buffer.push(...lines);
    if (buffer.length > maxBufferedLines) dropped += buffer.splice(0, buffer.length - maxBufferedLines).length;
  }

  async function flushAfter(waitMs: number): Promise<void> {
    await pause(clock, waitMs, signal);
    scheduledFlush = undefined;
    await writer.flush();
    // There may be no more lines: without another attempt the log would look complete.
    if (buffer.length > 0 && !signal.aborted) scheduledFlush ??= flushAfter(retryMs);
  }

  const writer: LogWriter = {
    write(level, message) {
      bufferLines([{ level, message, at: clock.now() }]);
      pendingWriters.add(writer);
      scheduledFlush ??= flushAfter(batchMs);
    },
    flush: () => (lastWrite = lastWrite.then(writeBuffer)),
  };
  return writer;
}

const droppedNotice = (count: number, [first]: readonly NewLogLine[]): NewLogLine => ({
  level: 'warning',
  message: `[${count} lines left out: the database could not be reached]`,
  ...(first?.at === undefined ? {} : { at: first.at }),
});
