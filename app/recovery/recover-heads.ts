import { sameCommit, shortCommit } from '../../src/contract/control/repo-ref.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import { InstallationPaused, type Head, fullName, type InstallationRepository } from '../github/github-api.ts';
import { buildBranchRequest } from '../events/request-branch.ts';
import type { Target, AppContext } from '../context.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import { findRevision, observedRevisionOf } from '../../src/deploy/machine/steps/read-deployment.ts';
import { isTransientError, type TransientError } from '../reconcile/transient-error.ts';
import type { BranchesOf } from './deployed-branches.ts';

/** The result of comparing heads. */
export interface HeadRecoveryResult {
  branches: number;
  /** Heads that were requested now. */
  recovered: number;
  /** Repositories that could not be read now. */
  failed: number;
  /** Rate-limited installations. */
  paused: number;
}

/** How many of a deployment's newest intents are searched for an outcome of its head. */
const maxSearchedIntents = 50;

/**
 * Compares the heads of deployed branches (or of the default branch if these are unknown) with the commits of their
 * revisions, and requests the missed ones. A failed or paused repository does not stop the others.
 */
export async function recoverHeads(
  context: AppContext,
  repositories: AsyncIterable<InstallationRepository> | Iterable<InstallationRepository>,
  branchesOf: BranchesOf | undefined,
  signal?: AbortSignal,
): Promise<HeadRecoveryResult> {
  const result: HeadRecoveryResult = { branches: 0, recovered: 0, failed: 0, paused: 0 };
  const paused = new Set<number>();
  for await (const repository of repositories) {
    signal?.throwIfAborted();
    if (paused.has(repository.installationId)) continue;
    const failure = await catchTransientError(() => recoverRepository(context, repository, branchesOf, result));
    if (failure === undefined) continue;
    if (failure instanceof InstallationPaused) {
      paused.add(repository.installationId);
      result.paused += 1;
    } else result.failed += 1;
    const about = { installation: repository.installationId };
    context.log.warn(about, `Heads of ${fullName(repository)} could not be compared: ${failure.message}`);
  }
  return result;
}

async function recoverRepository(
  context: AppContext,
  repository: InstallationRepository,
  branchesOf: BranchesOf | undefined,
  result: HeadRecoveryResult,
): Promise<void> {
  const branches = branchesOf ? branchesOf(repository) : [await context.githubApi.defaultBranch(repository)];
  for (const branch of branches) {
    const { targets } = await context.targets.targetsOf(repository, branch);
    if (targets.length === 0) continue;
    result.branches += 1;
    const head = await context.githubApi.head(repository, branch);
    if (head === undefined) continue;
    for (const target of targets) {
      const failure = await catchTransientError(async () => {
        if (await recoverTarget(context, { repository, branch, head, target })) result.recovered += 1;
      });
      if (failure === undefined) continue;
      if (!(failure instanceof ServiceError)) throw failure;
      const about = { deployment: target.deploymentId };
      context.log.warn(about, `The head of ${target.terms.deploymentName} could not be compared: ${failure.message}`);
    }
  }
}

interface BranchTarget {
  repository: InstallationRepository;
  branch: string;
  head: Head;
  target: Target;
}

async function recoverTarget(
  context: AppContext,
  { repository, branch, head, target }: BranchTarget,
): Promise<boolean> {
  const { store, control, clock, log } = context;
  const { deploymentId, terms } = target;
  const intents = await store.lastIntents(deploymentId, maxSearchedIntents);
  const { rolledBackCommit } = await store.deploymentQueue(deploymentId);
  const { active_revision_id: active, latest_revision_id: latestId } = await control.getDeployment(deploymentId);
  const latest = latestId ? await observeRevision(control, deploymentId, latestId, active) : undefined;
  const live = !active
    ? undefined
    : active === latestId
      ? latest
      : await observeRevision(control, deploymentId, active, active);
  const now = clock.now();
  const decision = decideHead({ head, live, latest, intents, rolledBackCommit, branch, now });
  if (decision.kind === 'fine') return false;
  const { key, lateMs, why } = decision;
  const cause = { kind: 'recovery', key, at: now, lateMs } as const;
  const created = await store.request(buildBranchRequest(target, { repository, branch, commit: head.sha }, cause));
  if (created)
    log.info({ deployment: deploymentId }, `Recovered ${shortCommit(head.sha)} for ${terms.deploymentName}: ${why}`);
  return created !== undefined;
}

type ObservedRevision = ReturnType<typeof observedRevisionOf>;

/** Reads a revision. A service may no longer return an old one, even if it is live. */
async function observeRevision(
  control: AppContext['control'],
  deploymentId: string,
  id: string,
  active: string | null,
): Promise<ObservedRevision> {
  const read = await findRevision(deploymentId, id, { control, options: () => ({}) });
  return read ? observedRevisionOf(read, active) : { id, commit: undefined, phase: id === active ? 'live' : 'ended' };
}

/** Returns failures of other services as a value, and rethrows internal errors. */
export async function catchTransientError(act: () => Promise<void>): Promise<TransientError | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (isTransientError(error)) return error;
    throw error;
  }
}

/** The observed state of one deployment of a branch. */
export interface HeadObservation {
  head: Head;
  live: ObservedRevision | undefined;
  /** The newest revision; it may be the live one. */
  latest: ObservedRevision | undefined;
  /** The newest intents of the deployment, newest first. */
  intents: readonly Pick<IntentFields, 'commit' | 'branch' | 'cause' | 'state' | 'end' | 'decision' | 'createdAt'>[];
  rolledBackCommit: string | undefined;
  branch: string;
  /** ms since the epoch */
  now: number;
}

/** Whether the head was missed. `key` identifies the cause, so that finding it again has no effect. */
type HeadDecision = { kind: 'missed'; key: string; lateMs: number; why: string } | { kind: 'fine'; why: string };

/** A push this recent (ms) will still be delivered. */
const graceMs = 60_000;

/**
 * Decides whether the head of a branch was missed: never built, and without open work. It was not missed if the
 * deployment's last outcome was about this head, because then its check shows the outcome.
 */
export function decideHead(observation: HeadObservation): HeadDecision {
  const { head, live, latest, intents, rolledBackCommit, branch } = observation;
  const commit = shortCommit(head.sha);
  const newest = intents.find(
    (intent) => intent.branch === branch && followsHead(intent) && intent.end?.kind !== 'joined',
  );
  if (newest && sameCommit(newest.commit, head.sha) && !wasUninstalled(newest) && !wasSuperseded(newest)) {
    return noAction(`the newest intent is about ${commit}`);
  }
  // Without an intent no check shows the rollback: request the head, so that its check says why it is not built.
  const hasCheck = intents.some((intent) => sameCommit(intent.commit, head.sha));
  if (hasCheck && sameCommit(rolledBackCommit, head.sha)) return noAction(`${commit} was rolled back`);
  if (latest?.phase === 'on-its-way') {
    if (latest.commit === undefined)
      return noAction(`revision ${latest.id} is in progress, and its commit is not known yet`);
    if (sameCommit(latest.commit, head.sha)) return noAction(`revision ${latest.id} of ${commit} is on its way`);
    // Another commit is about to replace the live one.
  } else if (live && sameCommit(live.commit, head.sha)) return noAction(`${commit} is live`);
  const lateMs = lateness(observation, newest);
  if (lateMs < graceMs) return noAction(`${commit} is new, and its push may be on its way`);
  return {
    kind: 'missed',
    key: `${head.sha}:${latest?.id ?? 'none'}`,
    lateMs,
    why: `${commit} is the head of ${branch}, and neither live nor on its way`,
  };
}

const noAction = (why: string): HeadDecision => ({ kind: 'fine', why });

/** Whether an intent is about the head. A rollback intentionally restores an older commit. */
const followsHead = ({ cause: { kind } }: Pick<IntentFields, 'cause'>): boolean =>
  kind !== 'failure' && kind !== 'rollback';

/** Whether an intent ended because the App was uninstalled from the repository, which is installed again now. */
const wasUninstalled = ({ state, decision }: Pick<IntentFields, 'state' | 'decision'>): boolean =>
  state === 'ended' && decision?.kind === 'skip' && decision.code === 'not-installed';

/** Whether an intent was superseded by another head or build. That is outdated if its commit is the head again. */
const wasSuperseded = ({ end, decision }: Pick<IntentFields, 'end' | 'decision'>): boolean =>
  end?.kind === 'superseded' ||
  end?.kind === 'other-commit' ||
  (end?.kind === 'skipped' && decision?.kind === 'skip' && decision.code === 'pushed-since');

/**
 * The longest time that the branch may have been at this head (ms): a commit may be older than its push. Committers set
 * the commit time, so a future or missing one is ignored; without any other it counts as late enough.
 */
function lateness({ head, now }: HeadObservation, newest: Pick<IntentFields, 'createdAt'> | undefined): number {
  const committedAt = head.committedAt <= now + graceMs ? head.committedAt : 0;
  const since = Math.max(committedAt, newest?.createdAt ?? 0);
  return since === 0 ? graceMs : Math.max(0, now - since);
}
