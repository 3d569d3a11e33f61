import type { Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { WriteLine } from '../compute/log-line.ts';
import type { NewLogLine } from '../logs/repository.ts';
import type { ControlStore } from '../store/store.ts';
import type { LogKind } from '../store/tables.ts';
import type { Logger } from '../../logger.ts';

/** One log of one revision, written to the database in batches. */
export interface LogWriter {
  write: WriteLine;
  /** Resolves when all lines so far are stored, or the database was unavailable. */
  flush(): Promise<void>;
}

interface RevisionLogsSettings {
  store: Pick<ControlStore, 'appendLog' | 'trimLog'>;
  clock: Clock;
  log: Logger;
}

const gatherMs = 100;
const linesAtOnce = 500;
/** The most lines that are buffered while the database is unavailable; beyond it the oldest are dropped. */
const mostHeld = 10_000;
const linesBetweenTrims = 5_000;

export function revisionLogs(settings: RevisionLogsSettings) {
  const unwritten = new Set<LogWriter>();
  return {
    open: (revisionId: string, kind: LogKind): LogWriter => logWriter(revisionId, kind, unwritten, settings),
    async flush(): Promise<void> {
      await Promise.all([...unwritten].map((writer) => writer.flush()));
    },
  };
}
export type RevisionLogs = ReturnType<typeof revisionLogs>;

function logWriter(
  revisionId: string,
  kind: LogKind,
  unwritten: Set<LogWriter>,
  { store, clock, log }: RevisionLogsSettings,
): LogWriter {
  let held: NewLogLine[] = [];
  let sinceTrim = 0;
  let gathering: Promise<void> | undefined;
  /** One statement at a time, to keep the order of lines. */
  let writing = Promise.resolve();

  async function keep(): Promise<void> {
    while (held.length > 0) {
      const lines = held.slice(0, linesAtOnce);
      try {
        await store.appendLog(revisionId, kind, lines);
      } catch (error) {
        // Keep the lines for the next batch.
        if (isDatabaseUnavailable(error)) return;
        log.error({ revisionId }, `Lines of the ${kind} log of revision ${revisionId} were lost: ${String(error)}`);
      }
      held = held.slice(lines.length);
      sinceTrim += lines.length;
      if (sinceTrim >= linesBetweenTrims) await trim();
    }
    unwritten.delete(writer);
  }

  async function trim(): Promise<void> {
    sinceTrim = 0;
    try {
      await store.trimLog(revisionId, kind);
    } catch (error) {
      log.error({ revisionId }, `The ${kind} log of revision ${revisionId} could not be trimmed: ${String(error)}`);
    }
  }

  async function gather(): Promise<void> {
    await clock.sleep(gatherMs);
    gathering = undefined;
    await writer.flush();
  }

  const writer: LogWriter = {
    write(level, message) {
      held.push({ level, message, at: clock.now() });
      if (held.length > mostHeld) held = held.slice(-mostHeld);
      unwritten.add(writer);
      gathering ??= gather();
    },
    flush: () => (writing = writing.then(keep)),
  };
  return writer;
}
