import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { GitHubApiError, type InstallationRepository } from '../github/github-api.ts';
import type { Ended, IntentFields, IntentHeader } from './intent.ts';
import { isRetryable } from './transient-error.ts';
import type { ReconcileContext } from './reconcile-context.ts';

/** Whether `newer` contains `older`; undefined if unknown. @throws GitHubApiError, InstallationPaused */
async function containsCommit(
  { context }: ReconcileContext,
  repository: InstallationRepository,
  older: string,
  newer: string,
): Promise<boolean | undefined> {
  if (older === newer) return true;
  const comparison = await context.githubApi.compare(repository, older, newer);
  return comparison.kind === 'unavailable' ? comparison.contains : true;
}

/** The same for additional information only: a refusal by GitHub means unknown. @throws InstallationPaused */
export async function mayContain(...requested: Parameters<typeof containsCommit>): Promise<boolean | undefined> {
  try {
    return await containsCommit(...requested);
  } catch (error) {
    if (error instanceof GitHubApiError) return undefined;
    throw error;
  }
}

/** How long GitHub is retried before a check stays as it is (ms). */
const timeoutMs = 10 * 60_000;

/** The most comparisons at one conclusion: force-pushed commits stay uncontained for good. */
const maxQueries = 10;

/** The superseded commits, updated now that `live` is live and proven. */
interface ContainedIntents {
  intents: Ended[];
  /** Those whose check changes with it: it is no newer intent's. */
  reported: Ended[];
}

/**
 * The superseded commits of the deployment that `live` contains. Derived from what is known of their successors, else
 * read from GitHub.
 *
 * @throws GitHubApiError, InstallationPaused if a retry is worthwhile
 */
export async function markContained(work: ReconcileContext, done: Ended, live: string): Promise<ContainedIntents> {
  const { store } = work.context;
  const waiting = await store.notYetContained(done.deploymentId);
  const containedCommits = new Set([live]);
  const contained: ContainedIntents = { intents: [], reported: [] };
  let queries = 0;
  // The newest first: what a superseded one contains is contained in what contains it.
  for (const intent of waiting.toReversed()) {
    if (intent.state !== 'ended') continue;
    const by = intent.end.by;
    const isKnown = containedCommits.has(intent.commit) || (by?.contains === true && containedCommits.has(by.commit));
    if (!isKnown) queries += 1;
    const contains = isKnown || (queries <= maxQueries && (await isContained(work, done, intent, live)));
    if (!contains) continue;
    containedCommits.add(intent.commit);
    const marked = { ...intent, end: { ...intent.end, liveIn: live } };
    contained.intents.push(marked);
    if (!sameCommit(intent.commit, done.commit) && (await hasOwnCheck(work, intent))) contained.reported.push(marked);
  }
  return contained;
}

async function isContained(
  work: ReconcileContext,
  done: IntentHeader,
  { repository, commit }: IntentHeader,
  live: string,
): Promise<boolean | undefined> {
  const mayRetry = work.context.clock.now() - done.updatedAt < timeoutMs;
  try {
    return await containsCommit(work, repository, commit, live);
  } catch (error) {
    if (error instanceof GitHubApiError && !(isRetryable(error) && mayRetry)) return undefined;
    throw error;
  }
}

/** Whether this intent owns the check of its commit: the newest one of the commit does. */
export async function hasOwnCheck(work: ReconcileContext, intent: IntentHeader): Promise<boolean> {
  const all = await work.context.store.intentsOf(intent.deploymentId, intent.commit);
  const last = all.findLast(({ end, cause }: IntentFields) => end?.kind !== 'joined' && cause.kind !== 'failure');
  return last?.id === intent.id;
}
