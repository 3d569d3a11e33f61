import type { AppContext } from '../context.ts';
import { fullName } from '../github/github-api.ts';
import { decideEvent } from './event-decision.ts';
import type { DecisionOf, EventDecision, Handler, HandlerContext, PullRequestExaminer } from './event-types.ts';
import { onRequestedAction, onRerun } from './check-actions.ts';
import { onCommand } from '../commands/on-command.ts';
import { onInstallation, onRepositoryRenamed } from './installation-changes.ts';
import { nothingToDeploy, putCommitCheck } from './commit-check.ts';
import { shortCommit } from '../../src/contract/control/repo-ref.ts';
import { mayAwait } from '../reconcile/await-checks.ts';
import { commitCheckName } from '../reconcile/report.ts';
import { notifyBranch, requestBranch } from './request-branch.ts';

/** A delivery to handle. The payload is validated before use. */
export interface ReceivedEvent {
  /** The delivery's GUID. */
  id: string;
  name: string;
  payload: unknown;
}

/**
 * Decides what an event requires and does it.
 *
 * @returns the decision, and what was done, to be stored with the delivery
 * @throws GitHubApiError, InstallationPaused or ServiceError if another service failed: the event is retried.
 */
export async function handleEvent(
  { id, name, payload }: ReceivedEvent,
  context: AppContext,
  pullRequests: PullRequestExaminer,
): Promise<EventDecision & { did: readonly string[] }> {
  const decision = decideEvent(name, payload);
  const did = await perform(decision, { context, delivery: id, pullRequests });
  context.log.info({ delivery: id, event: name, did: did.join('; ') || undefined }, formatDecision(decision));
  return { ...decision, did };
}

/** Formats a decision as one line: its subject, and why. */
export const formatDecision = <Kind extends EventKind>(decision: DecisionOf<Kind>): string =>
  `${subjects[decision.kind](decision)}: ${decision.why}`;

type EventKind = EventDecision['kind'];

const subjects: { [Kind in EventKind]: (decision: DecisionOf<Kind>) => string } = {
  push: ({ after, branch, repository }) => `push of ${shortCommit(after)} to ${branch} of ${fullName(repository)}`,
  'nothing-to-build': ({ headSha, repository }) =>
    `nothing to build of ${shortCommit(headSha)} of ${fullName(repository)}`,
  rerun: (decision) =>
    `re-run of ${decision.check ? `"${decision.check.name}"` : 'all checks'} at ${describeCommit(decision)} by ${decision.by}`,
  press: (decision) =>
    `${decision.button} on "${decision.check.name}" at ${describeCommit(decision)} by ${decision.by}`,
  'check-suite': (decision) => `checks of ${describeCommit(decision)}`,
  'checks-changed': (decision) => `a change of the checks of ${describeCommit(decision)}`,
  'pull-request': (decision) =>
    `pull request ${decision.number} ${decision.fork ? 'from a fork ' : ''}into ${decision.baseBranch} at ${describeCommit(decision)}`,
  preview: ({ number, repository }) => `preview of pull request ${number} of ${fullName(repository)}`,
  'merge-group': (decision) => `merge group into ${decision.baseBranch} at ${describeCommit(decision)}`,
  command: ({ parsed, number, repository, by }) =>
    `${parsed.kind === 'command' ? `/${parsed.command.name}` : 'a mistyped command'} on pull request ${number} of ${fullName(repository)} by ${by.login}`,
  installation: ({ installationId, change, repositories }) =>
    `installation ${installationId} ${change}, ${repositories?.map(fullName).join(', ') ?? 'all repositories'}`,
  'repository-renamed': ({ repository }) => `repository ${repository.repositoryId} is ${fullName(repository)} now`,
  'branch-deleted': ({ branch, repository }) => `end of ${branch} of ${fullName(repository)}`,
  ignore: () => 'ignored',
};

function describeCommit(at: { repository: { owner: string; name: string }; headSha: string; branch?: string }): string {
  const branch = at.branch === undefined ? '' : ` on ${at.branch}`;
  return `${shortCommit(at.headSha)}${branch} of ${fullName(at.repository)}`;
}

/** A push: requests a deploy of the branch's head as GitHub reports it now, not as the payload says. */
export const onPush: Handler<'push'> = ({ repository, branch, after, by }, { context, delivery }) => {
  const who = by === undefined ? {} : { by };
  const cause = { kind: 'push', key: delivery, ...who, at: context.clock.now() } as const;
  return requestBranch(context, { repository, branch, commit: after }, cause);
};

/** Writes a check on a commit that is not built, because a missing required check would block a merge. */
const onNothingToBuild: Handler<'nothing-to-build'> = async ({ repository, headSha, why }, { context }) => {
  await putCommitCheck(context, { repository, headSha }, nothingToDeploy(why, [], context.clock.now()));
  return ['reported that nothing is built'];
};

/** GitHub requests the checks of a commit. Unless its push was handled, the branch is requested as if pushed now. */
const onCheckSuite: Handler<'check-suite'> = async ({ repository, headSha, branch }, { context, delivery }) => {
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
  return requestBranch(context, { repository, branch, commit: headSha }, cause, { skipKnown: true });
};

/** Checks of others have changed: wakes the deployments that may wait for them. */
export const onChecksChanged: Handler<'checks-changed'> = async (
  { repository, headSha, check },
  { context: { store } },
) => {
  const intents = await store.intentsAt(repository.repositoryId, headSha);
  const waiting = new Set(intents.filter((intent) => mayAwait(intent, check)).map(({ deploymentId }) => deploymentId));
  for (const deploymentId of waiting) await store.wake(deploymentId);
  return waiting.size > 0 ? [...waiting].map((deploymentId) => `woke deployment ${deploymentId}`) : ['nothing waits'];
};

/** A deleted branch: open requests for it end when its head is read next. */
export const onBranchDeleted: Handler<'branch-deleted'> = async ({ repository, branch }, { context }) => {
  const did = await notifyBranch(context, repository, branch);
  return did.length > 0 ? did : ['nothing was open for the branch'];
};

/** A merge group's commit is not deployed before it is merged. */
const onMergeGroup: Handler<'merge-group'> = async ({ repository, headSha, baseBranch }, { context }) => {
  const why = `a merge group deploys nothing by itself; what it becomes on ${baseBranch} is deployed from there`;
  await putCommitCheck(context, { repository, headSha }, nothingToDeploy(why, [], context.clock.now()));
  return ['reported that a merge group deploys nothing'];
};

/** Examines a pull request as data, without running it. */
const onPullRequest: Handler<'pull-request'> = async (decision, { pullRequests, context }) => {
  const { repository, number, headSha, baseBranch, fork } = decision;
  await context.previews?.notify(repository, number, { isUnreachable: false });
  await pullRequests.examine({ repository, number, headSha, baseBranch, fork });
  return [`examined pull request ${number}`];
};

/** Has the preview of a pull request looked at. */
const onPreview: Handler<'preview'> = async ({ repository, number }, { context }) => {
  await context.previews?.notify(repository, number, { isUnreachable: false });
  return [`the previews of pull request ${number} are looked at`];
};

const handlers: { [Kind in EventKind]: Handler<Kind> } = {
  push: onPush,
  'nothing-to-build': onNothingToBuild,
  rerun: onRerun,
  press: onRequestedAction,
  'check-suite': onCheckSuite,
  'checks-changed': onChecksChanged,
  'pull-request': onPullRequest,
  preview: onPreview,
  'merge-group': onMergeGroup,
  command: onCommand,
  installation: onInstallation,
  'repository-renamed': onRepositoryRenamed,
  'branch-deleted': onBranchDeleted,
  ignore: async () => [],
};

const perform = <Kind extends EventKind>(decision: DecisionOf<Kind>, handling: HandlerContext) =>
  handlers[decision.kind](decision, handling);
