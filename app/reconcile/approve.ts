import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { refusalOfApproval } from '../../src/deploy/commands/decide.ts';
import type { CommandRefusal } from '../../src/deploy/commands/outcomes.ts';
import type { AppContext } from '../context.ts';
import type { InstallationRepository, ReviewerTeam } from '../github/github-api.ts';
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
  /** The id of the only one that is meant; absent: whichever waits. */
  intent?: string;
  by: string;
}

/** Who wrote a commit, pushed it, or requested it of any deployment, as far as that is known. */
async function requestersOf(
  { store, githubApi }: Pick<AppContext, 'store' | 'githubApi'>,
  repository: InstallationRepository,
  commit: string,
): Promise<string[]> {
  const intents = await store.intentsAt(repository.repositoryId, commit);
  return [...intents.flatMap(({ cause }) => cause.by ?? []), ...(await githubApi.peopleOf(repository, commit))];
}

/**
 * Approves the request of a commit that waits for a reviewer, if the person is one; however often it is called.
 *
 * @returns why nothing was approved; undefined where it is. @throws DeploymentBusy, GitHubApiError
 */
export async function approve(
  context: AppContext,
  { deploymentId, deployment, repository, commit, intent: only, by }: Approved,
): Promise<CommandRefusal | undefined> {
  const { store, githubApi, clock } = context;
  const isMeant = (intent: Intent): boolean =>
    awaitsApproval(intent) && sameCommit(intent.commit, commit) && (only === undefined || intent.id === only);
  const found = (await store.openIntents(deploymentId)).find(isMeant);
  if (!found) return { code: 'nothing-to-approve', deployment, commit };
  const { terms, branch, id } = found;
  const environment = terms.environment.name;
  const read = await githubApi.environmentProtection(repository, environment, branch);
  const reviewers = read.kind === 'protected' ? read.protection.reviewers : undefined;
  // The rule is gone: the next look lets it pass.
  if (!reviewers) {
    await store.wake(deploymentId);
    return undefined;
  }
  const isNamed = reviewers.users.some((user) => user.toLowerCase() === by.toLowerCase());
  const memberships: { team: ReviewerTeam; is: 'member' | 'other' | 'unread' }[] = [];
  // Anyone may press a button: who is named needs no look, and each look counts against the rate limit.
  for (const team of isNamed ? [] : reviewers.teams)
    memberships.push({ team, is: await githubApi.membershipOf(repository, team, by) });
  const requesters = reviewers.preventsSelfReview ? await requestersOf(context, repository, commit) : [];
  const decided = refusalOfApproval({ environment, reviewers }, { login: by, memberships, requesters });
  if (decided.kind === 'refused') return decided.refusal;
  const approval = { by, ...(decided.team === undefined ? {} : { team: decided.team }), at: clock.now() };
  const signal = new AbortController().signal;
  let isApproved = false;
  await withLease(context, deploymentId, async (lease) => {
    // It may have stopped waiting since it was found: it ended, or a person approved it before.
    const now = await store.intent(id);
    const { approvals = [] } = now ?? {};
    if (now && isMeant(now)) {
      const others = approvals.filter((each) => each.by !== by);
      await saveIntents({ context, lease, signal }, [{ ...now, approvals: [...others, approval] }]);
      isApproved = true;
    } else isApproved = approvals.some((each) => each.by === by);
  });
  return isApproved ? undefined : { code: 'nothing-to-approve', deployment, commit };
}
