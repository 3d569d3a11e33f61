import type { LogEntry, LogPage, LogQuery } from '../../contract/control/log.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import { asLine } from '../../deploy/words/sanitize.ts';
import { systemClock as clock } from '../../kit/clock.ts';
import { CommandRefused, exitCodes, refuseUsage, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { durationMs } from '../../deploy/file/written-text.ts';
import { type Invocation, withDeployment } from './service-session.ts';

/** How many lines are shown without `--since`. */
const maxLatest = 100;
const pageSize = 1000;
const maxLineLength = 8_192;
const pollMs = 1000;

/** Reads a page of one log. */
type ReadLog = (query: LogQuery) => Promise<LogPage>;

/** Prints the log of a revision's build or of its agent, and with `--follow` what is added to it. */
export function printLogs(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { build, agent, since, follow, revision } = invocation.options;
  if (build !== undefined && agent !== undefined) {
    return Promise.resolve(refuseUsage('--build and --agent are two logs. Give one of them.', terminal));
  }
  return withDeployment(invocation, terminal, async ({ control, signal: cancelled }, deployment) => {
    const signal = terminal.closed ? AbortSignal.any([cancelled, terminal.closed]) : cancelled;
    const { id, name, active_revision_id: live, latest_revision_id: latest } = deployment;
    // Of what has not started, only the build can say something.
    const isBuild = build !== undefined || (agent === undefined && revision === undefined && live === null);
    const revisionId = revision ?? (isBuild ? latest : (live ?? latest));
    if (revisionId === null) {
      throw new CommandRefused(`Deployment ${name} has no revision.`, 'Make one with landfall deploy.');
    }
    const log = isBuild ? ('build' as const) : ('agent' as const);
    if (build === undefined && agent === undefined) {
      terminal.complain(`The log of ${isBuild ? 'the build' : 'the agent'} of revision ${revisionId}`);
    }
    const read: ReadLog = (query) =>
      isBuild
        ? control.buildLogs(id, revisionId, query, { signal })
        : control.deployLogs(id, revisionId, query, { signal });
    const entries = await firstEntries(read, since);
    const document = { deployment: name, revision_id: revisionId, log };
    if (follow === undefined) {
      for (const entry of entries) terminal.print(lineOf(entry));
      terminal.conclude({ ...document, logs: entries.map(jsonOf) });
      return exitCodes.passes;
    }
    const print = (entry: LogEntry): void => {
      terminal.print(lineOf(entry));
      terminal.conclude({ ...document, ...jsonOf(entry) });
    };
    const isEnded = async (): Promise<boolean> =>
      isBuild && hasBuild((await control.getRevision(id, revisionId, { signal })).status);
    await followLog({ read, entries, print, isEnded, signal });
    return exitCodes.passes;
  });
}

/** Whether the build of a revision has ended. */
const hasBuild = (status: string): boolean =>
  classOfRevisionStatus(status) !== 'in-progress' || status === 'AWAITING_DEPLOY' || status === 'DEPLOYING';

/** The newest lines, or all since then; oldest first. */
async function firstEntries(read: ReadLog, since: string | undefined): Promise<LogEntry[]> {
  if (since === undefined) return (await read({ order: 'desc', limit: maxLatest })).logs.toReversed();
  return entriesFrom(new Date(clock.now() - (durationMs(since) ?? 0)).toISOString(), read);
}

/** All lines from this time on, oldest first. */
async function entriesFrom(start_time: string | undefined, read: ReadLog): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  let offset: string | undefined;
  for (;;) {
    const page = await read({
      order: 'asc',
      limit: pageSize,
      ...(offset === undefined ? {} : { offset }),
      ...(start_time === undefined ? {} : { start_time }),
    });
    entries.push(...page.logs);
    if (!page.next_offset || page.next_offset === offset) return entries;
    offset = page.next_offset;
  }
}

/** Prints lines as they come, until the log ends, Ctrl-C or the reader closes the output. Lines of the last moment are read again, and printed once. */
async function followLog(followed: {
  read: ReadLog;
  entries: readonly LogEntry[];
  print: (entry: LogEntry) => void;
  isEnded: () => Promise<boolean>;
  signal: AbortSignal;
}): Promise<void> {
  const { read, print, isEnded, signal } = followed;
  let last = followed.entries;
  for (const entry of last) print(entry);
  for (;;) {
    // Asked before the log is read, so that its last lines are not missed.
    const isLast = await untilAborted(isEnded(), signal);
    const from = timeOf(last.at(-1));
    const seen = new Set(last.map(keyOf));
    const found = await untilAborted(entriesFrom(from, read), signal);
    if (found === undefined) return;
    const more = found.filter((entry) => !seen.has(keyOf(entry)));
    for (const entry of more) print(entry);
    if (isLast) return;
    if (found.length > 0) last = found;
    await untilAborted(clock.sleep(pollMs, signal), signal);
    if (signal.aborted) return;
  }
}

/** The value, or undefined once the signal aborts. */
const untilAborted = <T>(value: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  value.catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });

const keyOf = ({ id, timestamp, message }: LogEntry): string =>
  id === undefined || id === null ? `${timestamp ?? ''} ${message}` : String(id);

/** The time of a line as a service takes it. */
function timeOf(entry: LogEntry | undefined): string | undefined {
  const at = entry?.timestamp;
  if (at === undefined || at === null) return undefined;
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A line with its time. */
function lineOf(entry: LogEntry): string {
  const time = timeOf(entry);
  const text = asLine(entry.message, maxLineLength);
  return time === undefined ? text : `${time} ${text}`;
}

const jsonOf = (entry: LogEntry): { at: string | null; level: string | null; message: string } => ({
  at: timeOf(entry) ?? null,
  level: entry.level ?? null,
  message: entry.message,
});
