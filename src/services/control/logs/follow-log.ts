import { steadyNow, untilAborted, withTimeout, type Clock } from '../../../kit/clock.ts';
import { admissionWatch } from '../api-keys/admission-watch.ts';
import { hasEnded } from '../revisions/states.ts';
import type { ControlStore } from '../store/store.ts';
import type { DeploymentRecord, LogKind, LogLine, RevisionRecord } from '../store/tables.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import type { LogPageQuery } from './repository.ts';

/** The part of a revision that decides the end of its log. */
export type EndedRevision = Pick<RevisionRecord, 'status' | 'status_message'>;

export type LogEvent =
  | { kind: 'line'; line: LogLine }
  /** Nothing new for a while: sent so that proxies don't close the connection. */
  | { kind: 'quiet' }
  /** There will be no more lines; `undefined` where the revision is gone with its deployment. */
  | { kind: 'end'; revision: EndedRevision | undefined };

/** The log to follow, and the position: `after` is the id of the last known line. */
export interface FollowedLog extends Pick<LogPageQuery, 'after' | 'level' | 'containing'> {
  deploymentId: string;
  revisionId: string;
  logKind: LogKind;
}

export interface FollowedStore {
  findRevision(deploymentId: string, revisionId: string): Promise<EndedRevision | undefined>;
  deployment(id: string): Promise<Pick<DeploymentRecord, 'active_revision_id'> | undefined>;
  readLog: ControlStore['readLog'];
}

export interface FollowDependencies {
  store: FollowedStore;
  notifier: ChangeNotifier;
  clock: Clock;
  /** Aborts when the follower has disconnected, or this service ends. */
  signal: AbortSignal;
}

/** Milliseconds of silence before a follower gets a keep-alive. */
export const quietMs = 15_000;
/** Lines per query: all that is buffered for a slow follower. */
const linesAtOnce = 100;

/**
 * Follows a log: stored lines, then new ones, until the revision has ended; that of the live revision continues. Reads
 * the next lines only when the last were taken. Without an `end` when `signal` aborts: a client continues by its last
 * id.
 */
export async function* followLog(followed: FollowedLog, tools: FollowDependencies): AsyncGenerator<LogEvent, void> {
  const { revisionId, logKind, deploymentId: _, ...filter } = followed;
  const { store, notifier, clock, signal } = tools;
  const listening = notifier.listen(revisionId);
  let { after } = followed;
  let quietAt = steadyNow(clock) + quietMs;
  try {
    while (!signal.aborted) {
      // Before the lines: then all lines from before the end are included.
      const { revision, isOver } = await readProgress(followed, store);
      const lines = await store.readLog([revisionId], logKind, { ...filter, order: 'asc', limit: linesAtOnce, after });
      for (const line of lines) yield { kind: 'line', line };
      after = lines.at(-1)?.id ?? after;
      if (lines.length === linesAtOnce) continue;
      if (isOver) return yield { kind: 'end', revision };
      // By time: lines that do not match the filter wake this as well.
      const isQuiet = lines.length === 0 && steadyNow(clock) >= quietAt;
      if (isQuiet) yield { kind: 'quiet' };
      if (isQuiet || lines.length > 0) quietAt = steadyNow(clock) + quietMs;
      await untilNotified(listening.next(), Math.max(0, quietAt - steadyNow(clock)), tools);
    }
  } finally {
    listening.end();
  }
}

/** Events until the follower would not be admitted any more; checked by time, since a filtered log may have none. */
export async function* whileAdmitted(
  follow: (signal: AbortSignal) => AsyncGenerator<LogEvent, void>,
  isAdmitted: () => Promise<boolean>,
  clock: Clock,
): AsyncGenerator<LogEvent, void> {
  const ended = new AbortController();
  const stopWatching = admissionWatch(clock)(isAdmitted, () => ended.abort());
  try {
    for await (const event of follow(ended.signal)) {
      if (ended.signal.aborted) return;
      yield event;
    }
  } finally {
    stopWatching();
  }
}

/** Whether the log is complete and the follower has all of it. */
export async function isFullyRead(followed: FollowedLog, store: FollowedStore): Promise<boolean> {
  const { isOver } = await readProgress(followed, store);
  const { revisionId, logKind, ...requested } = followed;
  return isOver && (await store.readLog([revisionId], logKind, { ...requested, order: 'asc', limit: 1 })).length === 0;
}

async function readProgress({ deploymentId, revisionId, logKind }: FollowedLog, store: FollowedStore) {
  const revision = await store.findRevision(deploymentId, revisionId);
  if (!revision || logKind === 'build') return { revision, isOver: !revision || hasEnded(revision.status) };
  const deployment = await store.deployment(deploymentId);
  return { revision, isOver: hasEnded(revision.status) && deployment?.active_revision_id !== revisionId };
}

const untilNotified = (notification: Promise<void>, ms: number, { clock, signal }: FollowDependencies): Promise<void> =>
  withTimeout(clock, ms, (ended) => Promise.race([notification, untilAborted(ended)]), signal);
