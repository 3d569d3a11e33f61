import { commitCheckName } from '../reconcile/report.ts';
import { nothingToDeploy, putCommitCheck } from './commit-check.ts';
import type { Handler } from './handling.ts';
import { requestBranch, notifyBranch, unlessRequested } from './request-branch.ts';

/** A push: requests a deploy of the branch's head as GitHub reports it now, not as the payload says. */
export const onPush: Handler<'push'> = ({ repository, branch, after }, { context, delivery }) =>
  requestBranch(
    context,
    { repository, branch, commit: after },
    { kind: 'push', key: delivery, at: context.clock.now() },
  );

/** A commit that is not built gets a check, too: a required check that is missing blocks a merge. */
export const onNothingToBuild: Handler<'nothing-to-build'> = async ({ repository, headSha, why }, { context }) => {
  await putCommitCheck(context, { repository, headSha }, nothingToDeploy(why, [], context.clock.now()));
  return ['reported that nothing is built'];
};

/**
 * GitHub requests the checks of a commit. Usually its push was handled before, and the checks exist: then no request is
 * made to GitHub. Otherwise the branch is examined as if it were pushed now.
 */
export const onCheckSuite: Handler<'check-suite'> = async ({ repository, headSha, branch }, { context, delivery }) => {
  const { store, clock } = context;
  const { repositoryId } = repository;
  const isKnown =
    (await store.intentsAt(repositoryId, headSha)).length > 0 ||
    (await store.reportOf(repositoryId, headSha, commitCheckName)) !== undefined;
  if (isKnown) return ['the commit has its checks'];
  if (branch === undefined) {
    const why = 'the commit is on no branch of this repository';
    await putCommitCheck(context, { repository, headSha }, nothingToDeploy(why, [], clock.now()));
    return [`no target: ${why}`];
  }
  const cause = { kind: 'push', key: delivery, at: clock.now() } as const;
  return requestBranch(context, { repository, branch, commit: headSha }, cause, unlessRequested(context));
};

/** The end of a branch: whatever is open for it ends where its head is read next. */
export const onBranchDeleted: Handler<'branch-deleted'> = async ({ repository, branch }, { context }) => {
  const did = await notifyBranch(context, repository, branch);
  return did.length > 0 ? did : ['nothing was open for the branch'];
};

/** A merge group's commit is not deployed before it is merged. */
export const onMergeGroup: Handler<'merge-group'> = async ({ repository, headSha, baseBranch }, { context }) => {
  const why = `a merge group deploys nothing by itself; what it becomes on ${baseBranch} is deployed from there`;
  await putCommitCheck(context, { repository, headSha }, nothingToDeploy(why, [], context.clock.now()));
  return ['reported that a merge group deploys nothing'];
};

/** Examines a pull request as data, without running it. */
export const onPullRequest: Handler<'pull-request'> = async (decision, { pullRequests }) => {
  const { repository, number, headSha, baseBranch, fork } = decision;
  await pullRequests.examine({ repository, number, headSha, baseBranch, fork });
  return [`examined pull request ${number}`];
};
