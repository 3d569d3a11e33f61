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
  /** Aborts when the service stops: the writers then try no longer by themselves. */
  signal: AbortSignal;
}

const gatherMs = 100;
/** How long to wait before lines are written again that the database could not take. */
const retryMs = 1_000;
const linesAtOnce = 500;
/** The most lines that are buffered while the database is unavailable; beyond it the oldest are dropped, and counted. */
const maxHeld = 10_000;
const linesBetweenTrims = 5_000;

export function revisionLogs(settings: RevisionLogsDependencies) {
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
  { store, clock, log, signal }: RevisionLogsDependencies,
): LogWriter {
  const held: NewLogLine[] = [];
  let dropped = 0;
  let sinceTrim = 0;
  let gathering: Promise<void> | undefined;
  /** One statement at a time, to keep the order of lines. */
  let writing = Promise.resolve();

  async function keep(): Promise<void> {
    while (held.length > 0) {
      const lines = held.splice(0, linesAtOnce);
      const missing = dropped;
      try {
        await store.appendLog(revisionId, kind, missing === 0 ? lines : [noticeOf(missing, lines), ...lines]);
      } catch (error) {
        if (isDatabaseUnavailable(error)) return hold([...lines, ...held.splice(0)]);
        log.error({ revisionId }, `Lines of the ${kind} log of revision ${revisionId} were lost: ${stackOf(error)}`);
      }
      dropped -= missing;
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
      log.error({ revisionId }, `The ${kind} log of revision ${revisionId} could not be trimmed: ${stackOf(error)}`);
    }
  }

  function hold(lines: readonly NewLogLine[]): void {
    held.push(...lines);
    if (held.length > maxHeld) dropped += held.splice(0, held.length - maxHeld).length;
  }

  async function gather(waitMs: number): Promise<void> {
    await pause(clock, waitMs, signal);
    gathering = undefined;
    await writer.flush();
    // The next lines may never come: without another attempt the log would look complete.
    if (held.length > 0 && !signal.aborted) gathering ??= gather(retryMs);
  }

  const writer: LogWriter = {
    write(level, message) {
      hold([{ level, message, at: clock.now() }]);
      unwritten.add(writer);
      gathering ??= gather(gatherMs);
    },
    flush: () => (writing = writing.then(keep)),
  };
  return writer;
}

const noticeOf = (missing: number, [first]: readonly NewLogLine[]): NewLogLine => ({
  level: 'warning',
  message: `[${missing} lines left out: the database could not be reached]`,
  ...(first?.at === undefined ? {} : { at: first.at }),
});
