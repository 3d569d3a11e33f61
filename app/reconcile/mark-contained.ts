import { sameCommit } from '../../src/planning/commit.ts';
import { GitHubApiError } from '../github/github-api.ts';
import { containsCommit } from './contains-commit.ts';
import type { Intent } from './intent.ts';
import { passesByItself } from './transient-error.ts';
import type { ReconcileContext } from './reconcile-context.ts';

/** How long GitHub is retried before a check stays as it is (ms). */
const timeoutMs = 10 * 60_000;

/** The most comparisons at one conclusion: force-pushed commits stay uncontained for good. */
const maxQueries = 10;

/** The superseded commits, updated now that `live` is live and proven. */
export interface ContainedIntents {
  intents: readonly Intent[];
  /** Ids of those whose check is another intent's to speak in by now. */
  silent: readonly string[];
}

/**
 * The superseded commits of the deployment that `live` contains. Derived from what is known of their successors, else
 * read from GitHub.
 *
 * @throws GitHubApiError, InstallationPaused if a retry is worthwhile
 */
export async function markContained(work: ReconcileContext, done: Intent, live: string): Promise<ContainedIntents> {
  const { store } = work.context;
  const waiting = await store.notYetContained(done.deploymentId);
  const containedCommits = new Set([live]);
  const intents: Intent[] = [];
  const silent: string[] = [];
  let queries = 0;
  // The newest first: what a superseded one contains is contained in what contains it.
  for (const intent of waiting.toReversed()) {
    if (!intent.end) continue;
    const by = intent.end.by;
    const isKnown = containedCommits.has(intent.commit) || (by?.contains === true && containedCommits.has(by.commit));
    if (!isKnown) queries += 1;
    const contains = isKnown || (queries <= maxQueries && (await isContained(work, done, intent, live)));
    if (!contains) continue;
    containedCommits.add(intent.commit);
    intents.push({ ...intent, end: { ...intent.end, liveIn: live } });
    if (!(await hasOwnCheck(work, intent, done))) silent.push(intent.id);
  }
  return { intents, silent };
}

async function isContained(
  work: ReconcileContext,
  done: Intent,
  { repository, commit }: Intent,
  live: string,
): Promise<boolean | undefined> {
  const mayRetry = work.context.clock.now() - done.updatedAt < timeoutMs;
  try {
    return await containsCommit(work, repository, commit, live);
  } catch (error) {
    if (error instanceof GitHubApiError && !(passesByItself(error) && mayRetry)) return undefined;
    throw error;
  }
}

/** Whether this intent owns the check of its commit: the newest one of the commit does. */
async function hasOwnCheck(work: ReconcileContext, intent: Intent, done: Intent): Promise<boolean> {
  if (sameCommit(intent.commit, done.commit)) return false;
  const all = await work.context.store.intentsOf(intent.deploymentId, intent.commit);
  const last = all.findLast(({ end, cause }) => end?.kind !== 'joined' && cause.kind !== 'failure');
  return last?.id === intent.id;
}
