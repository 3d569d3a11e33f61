import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { refusalOfApproval } from '../../src/deploy/commands/decide.ts';
import type { CommandRefusal } from '../../src/deploy/commands/outcomes.ts';
import type { AppContext } from '../context.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import { awaitsApproval, type Intent } from './intent.ts';
import { saveIntents } from './reconcile-context.ts';
import { withLease } from './with-lease.ts';

/** Which request a person approves. */
interface Approved {
  deploymentId: string;
  /** For the refusal. */
  deployment: string;
  repository: InstallationRepository;
  /** The commit that the person saw. */
  commit: string;
  by: string;
}

/**
 * Approves the request of a commit that waits for a reviewer, if the person is one; however often it is called.
 *
 * @returns why nothing was approved; undefined where it is. @throws DeploymentBusy, GitHubApiError
 */
export async function approve(
  context: AppContext,
  { deploymentId, deployment, repository, commit, by }: Approved,
): Promise<CommandRefusal | undefined> {
  const { store, githubApi, clock } = context;
  const isMeant = (intent: Intent): boolean => awaitsApproval(intent) && sameCommit(intent.commit, commit);
  const found = (await store.openIntents(deploymentId)).find(isMeant);
  if (!found) return { code: 'nothing-to-approve', deployment, commit };
  const { terms, branch, cause, id } = found;
  const environment = terms.environment.name;
  const read = await githubApi.environmentProtection(repository, environment, branch);
  const reviewers = read.kind === 'protected' ? read.protection.reviewers : undefined;
  // The rule is gone: the next look lets it pass.
  if (!reviewers) {
    await store.wake(deploymentId);
    return undefined;
  }
  const memberships = await Promise.all(
    reviewers.teams.map(async (team) => ({ team, is: await githubApi.membershipOf(repository, team, by) })),
  );
  const people = reviewers.preventsSelfReview ? await githubApi.peopleOf(repository, commit) : [];
  const requesters = [...(cause.by === undefined ? [] : [cause.by]), ...people];
  const decided = refusalOfApproval({ environment, reviewers }, { login: by, memberships, requesters });
  if (decided.kind === 'refused') return decided.refusal;
  const approval = { by, ...(decided.team === undefined ? {} : { team: decided.team }), at: clock.now() };
  const signal = new AbortController().signal;
  await withLease(context, deploymentId, async (lease) => {
    const open = (await store.openIntents(deploymentId)).filter((intent) => intent.id === id && isMeant(intent));
    const others = ({ approvals = [] }: Intent) => approvals.filter((each) => each.by !== by);
    const approved = open.map((intent) => ({ ...intent, approvals: [...others(intent), approval] }));
    if (approved.length > 0) await saveIntents({ context, lease, signal }, approved);
  });
  return undefined;
}
