import { shortCommit } from '../../src/planning/commit.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import type { RevisionSeen } from '../../src/planning/trigger-types.ts';
import { InstallationPaused, type Head } from '../github/github-api.ts';
import { buildBranchRequest } from '../events/request-branch.ts';
import { fullName, type RepositoryAt, type Target, type AppContext } from '../context.ts';
import { findRevision, seenOf } from '../reconcile/observation.ts';
import { isTransientError, type TransientError } from '../reconcile/transient-error.ts';
import type { BranchesOf } from './deployed-branches.ts';
import { wasMissed } from './missed-heads.ts';

/** The result of comparing heads. */
export interface HeadsChecked {
  branches: number;
  /** Heads that were requested now. */
  recovered: number;
  /** Repositories that could not be read now. */
  failed: number;
  /** Rate-limited installations. */
  paused: number;
}

/** How many of a deployment's newest intents are searched for an outcome of its head. */
const lastWords = 50;

/**
 * Compares the heads of deployed branches (of the default branch, if these are unknown) with the commits of their
 * revisions, and requests the missed ones. What fails or is paused does not stop the others.
 */
export async function recoverHeads(
  context: AppContext,
  repositories: AsyncIterable<RepositoryAt> | Iterable<RepositoryAt>,
  branchesOf: BranchesOf | undefined,
  signal?: AbortSignal,
): Promise<HeadsChecked> {
  const checked: HeadsChecked = { branches: 0, recovered: 0, failed: 0, paused: 0 };
  const paused = new Set<number>();
  for await (const repository of repositories) {
    signal?.throwIfAborted();
    if (paused.has(repository.installationId)) continue;
    const failure = await attempted(() => recoverRepository(context, repository, branchesOf, checked));
    if (failure === undefined) continue;
    if (failure instanceof InstallationPaused) {
      paused.add(repository.installationId);
      checked.paused += 1;
    } else checked.failed += 1;
    const about = { installation: repository.installationId };
    context.log.warn(about, `Heads of ${fullName(repository)} could not be compared: ${failure.message}`);
  }
  return checked;
}

async function recoverRepository(
  context: AppContext,
  repository: RepositoryAt,
  branchesOf: BranchesOf | undefined,
  checked: HeadsChecked,
): Promise<void> {
  const branches = branchesOf ? branchesOf(repository) : [await context.githubApi.defaultBranch(repository)];
  for (const branch of branches) {
    const { targets } = await context.targets.targetsOf(repository, branch);
    if (targets.length === 0) continue;
    checked.branches += 1;
    const head = await context.githubApi.head(repository, branch);
    if (head === undefined) continue;
    for (const target of targets) {
      const failure = await attempted(async () => {
        if (await recoverTarget(context, { repository, branch, head, target })) checked.recovered += 1;
      });
      if (failure === undefined) continue;
      if (!(failure instanceof ServiceError)) throw failure;
      const about = { deployment: target.deploymentId };
      context.log.warn(about, `The head of ${target.terms.deploymentName} could not be compared: ${failure.message}`);
    }
  }
}

interface BranchTarget {
  repository: RepositoryAt;
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
  const intents = await store.lastIntents(deploymentId, lastWords);
  const { rolledBackCommit } = await store.deploymentQueue(deploymentId);
  const { active_revision_id: active, latest_revision_id: latestId } = await control.getDeployment(deploymentId);
  const latest = latestId ? await seen(control, deploymentId, latestId, active) : undefined;
  const live = !active ? undefined : active === latestId ? latest : await seen(control, deploymentId, active, active);
  const now = clock.now();
  const answer = wasMissed({ head, live, latest, intents, rolledBackCommit, branch, now });
  if (answer.kind === 'fine') return false;
  const { key, lateMs, why } = answer;
  const cause = { kind: 'recovery', key, at: now, lateMs } as const;
  const made = await store.request(buildBranchRequest(target, { repository, branch, commit: head.sha }, cause));
  if (made)
    log.info({ deployment: deploymentId }, `Recovered ${shortCommit(head.sha)} for ${terms.deploymentName}: ${why}`);
  return made !== undefined;
}

/** A service may no longer return an old revision, even if it is live. */
async function seen(
  control: AppContext['control'],
  deploymentId: string,
  id: string,
  active: string | null,
): Promise<RevisionSeen> {
  const read = await findRevision(control, deploymentId, id);
  return read ? seenOf(read, active) : { id, commit: undefined, standing: id === active ? 'live' : 'ended' };
}

/** Returns failures of other services as a value, and rethrows internal errors. */
async function attempted(act: () => Promise<void>): Promise<TransientError | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (isTransientError(error)) return error;
    throw error;
  }
}
