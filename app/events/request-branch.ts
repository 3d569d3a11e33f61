import { sameCommit, shortCommit } from '../../src/contract/control/repo-ref.ts';
import { type CheckContent, fullName, type InstallationRepository } from '../github/github-api.ts';
import type { Target, AppContext } from '../context.ts';
import type { Cause, DeployRequest } from '../reconcile/deploy-request.ts';
import type { Intent } from '../reconcile/intent.ts';
import type { WorkStore } from '../reconcile/store.ts';
import { nothingToDeploy, partlyDeployed, putCommitCheck, howBranchesDeploy } from './commit-check.ts';

/** A commit of a branch, as an event reported it. */
export interface PushedCommit {
  repository: InstallationRepository;
  branch: string;
  commit: string;
}

/** A request to build the branch's head for a target. */
export const buildBranchRequest = (
  { deploymentId, repoRef, terms }: Target,
  { repository, branch, commit }: PushedCommit,
  cause: Cause,
): DeployRequest => ({ deploymentId, repository, branch, commit, cause, terms, sending: { kind: 'restate', repoRef } });

/**
 * Finds the targets of a branch and requests a deploy of its head on each. A commit that is no longer the head is
 * requested as well, so that its check gets an outcome. If the branch has no target, the commit's own check says so.
 *
 * @param options.skipKnown skips commits that were requested before on a deployment.
 * @returns what was done, as short clauses.
 */
export async function requestBranch(
  context: AppContext,
  event: PushedCommit,
  cause: Cause,
  { skipKnown = false } = {},
): Promise<string[]> {
  const { store, githubApi, targets: resolver, clock } = context;
  const { repository, branch, commit } = event;
  const updateCheck = (content: CheckContent) =>
    putCommitCheck(context, { repository, headSha: commit }, content, cause.kind === 'rerun');
  const { targets, refused } = await resolver.targetsOf(repository, branch);
  if (targets.length === 0) {
    const why = `no deployment is built from ${branch} of ${fullName(repository)}`;
    const isUnread = refused.some(({ isFailure }) => isFailure === true);
    const content = isUnread
      ? nothingToDeploy('the deploy file could not be read', refused, clock.now())
      : nothingToDeploy(why, refused, clock.now(), howBranchesDeploy);
    await updateCheck(content);
    return [`no target: ${why}`];
  }
  const head = await githubApi.head(repository, branch);
  if (head === undefined) {
    const why = `the branch ${branch} is gone`;
    await updateCheck(nothingToDeploy(why, refused, clock.now()));
    return [why, ...(await notifyBranch(context, repository, branch))];
  }
  if (refused.length > 0) await updateCheck(partlyDeployed(refused, clock.now()));
  const commits = sameCommit(head.sha, commit) ? [head.sha] : [commit, head.sha];
  const did: string[] = [];
  for (const target of targets) {
    for (const each of commits) {
      const subject = `${shortCommit(each)} on ${target.terms.deploymentName}`;
      if (skipKnown && (await store.intentsOf(target.deploymentId, each)).length > 0) {
        did.push(`${subject} has its check`);
      } else {
        const created = await store.request(buildBranchRequest(target, { ...event, commit: each }, cause));
        did.push(created ? `requested ${subject}` : `already requested ${subject}`);
      }
    }
  }
  return did;
}

/** Notifies every deployment with open work of this branch: if the branch is gone, that work ends. */
export async function notifyBranch(
  { store }: AppContext,
  repository: InstallationRepository,
  branch: string,
): Promise<string[]> {
  const notified = await notifyMatching(
    store,
    (intent) => intent.repository.repositoryId === repository.repositoryId && intent.branch === branch,
  );
  return notified.map((deploymentId) => `woke deployment ${deploymentId}`);
}

/** Notifies every deployment with a matching open intent, and returns their ids. */
export async function notifyMatching(store: WorkStore, matches: (intent: Intent) => boolean): Promise<string[]> {
  const notified: string[] = [];
  for (const deploymentId of await store.busyDeployments()) {
    if (!(await store.openIntents(deploymentId)).some(matches)) continue;
    await store.wake(deploymentId);
    notified.push(deploymentId);
  }
  return notified;
}
