import { steadyNow, untilAborted, withTimeout, type Clock } from '../../../kit/clock.ts';
import { admissionWatch } from '../api-keys/admission-watch.ts';
import { hasEnded } from '../revisions/states.ts';
import type { ControlStore } from '../store/store.ts';
import type { DeploymentRecord, LogKind, LogLine, RevisionRecord } from '../store/tables.ts';
import type { ChangeNotifier } from './change-notifier.ts';
import type { LogPageQuery } from './repository.ts';

/** The fields of a revision that decide whether its log is complete. */
export type EndedRevision = Pick<RevisionRecord, 'status' | 'status_message'>;

export type LogEvent =
  | { kind: 'line'; line: LogLine }
  /** A keep-alive without new lines, so that proxies don't close the connection. */
  | { kind: 'quiet' }
  /** There will be no more lines; `undefined` where the revision is gone with its deployment. */
  | { kind: 'end'; revision: EndedRevision | undefined };

/** The log to follow, and the position: `after` is the id of the last known line. */
export interface LogPosition extends Pick<LogPageQuery, 'after' | 'level' | 'containing'> {
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

/** How long (ms) without new lines until a follower gets a keep-alive. */
export const keepAliveMs = 15_000;
/** The most lines per query, and so the most that are buffered for a slow follower. */
const maxLinesPerQuery = 100;

/**
 * Follows a log: yields stored lines, then new ones, until the revision has ended; the log of the live revision goes on.
 * Reads more lines only when the last ones were consumed. Stops without an `end` when `signal` aborts: a client can
 * continue from its last id.
 */
export async function* followLog(followed: LogPosition, tools: FollowDependencies): AsyncGenerator<LogEvent, void> {
  const { revisionId, logKind, deploymentId: _, ...filter } = followed;
  const { store, notifier, clock, signal } = tools;
  const listening = notifier.listen(revisionId);
  let { after } = followed;
  let keepAliveAt = steadyNow(clock) + keepAliveMs;
  try {
    while (!signal.aborted) {
      // Read this before the lines, so that they include all lines from before the end.
      const { revision, isOver } = await readProgress(followed, store);
      const lines = await store.readLog([revisionId], logKind, {
        ...filter,
        order: 'asc',
        limit: maxLinesPerQuery,
        after,
      });
      for (const line of lines) yield { kind: 'line', line };
      after = lines.at(-1)?.id ?? after;
      if (lines.length === maxLinesPerQuery) continue;
      if (isOver) return yield { kind: 'end', revision };
      // Check the time, because lines that do not match the filter wake this too.
      const isQuiet = lines.length === 0 && steadyNow(clock) >= keepAliveAt;
      if (isQuiet) yield { kind: 'quiet' };
      if (isQuiet || lines.length > 0) keepAliveAt = steadyNow(clock) + keepAliveMs;
      await untilNotified(listening.next(), Math.max(0, keepAliveAt - steadyNow(clock)), tools);
    }
  } finally {
    listening.end();
  }
}

/** Yields events as long as the follower is admitted. Checks that periodically, because a filtered log may be silent. */
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
export async function isFullyRead(followed: LogPosition, store: FollowedStore): Promise<boolean> {
  const { isOver } = await readProgress(followed, store);
  const { revisionId, logKind, ...requested } = followed;
  return isOver && (await store.readLog([revisionId], logKind, { ...requested, order: 'asc', limit: 1 })).length === 0;
}

async function readProgress({ deploymentId, revisionId, logKind }: LogPosition, store: FollowedStore) {
  const revision = await store.findRevision(deploymentId, revisionId);
  if (!revision || logKind === 'build') return { revision, isOver: !revision || hasEnded(revision.status) };
  const deployment = await store.deployment(deploymentId);
  return { revision, isOver: hasEnded(revision.status) && deployment?.active_revision_id !== revisionId };
}

const untilNotified = (notification: Promise<void>, ms: number, { clock, signal }: FollowDependencies): Promise<void> =>
  withTimeout(clock, ms, (ended) => Promise.race([notification, untilAborted(ended)]), signal);
