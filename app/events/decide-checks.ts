import type { InstallationRepository } from '../github/github-api.ts';
import {
  actionOf,
  checkRunPayload,
  checkSuitePayload,
  installationRepositoryOf,
  requestedAction,
  ignored,
  decideOnPayload,
  type CheckPullRequests,
} from './event-payloads.ts';
import type { DecisionOf, EventDecision, PullRequest } from './event-types.ts';

/** Re-run and the buttons of one check. */
export function decideCheckRun(payload: unknown): EventDecision {
  const action = actionOf(payload);
  if (action !== 'rerequested' && action !== 'requested_action') {
    return ignored('of a check run only Re-run and the buttons ask for something');
  }
  return decideOnPayload(checkRunPayload, payload, ({ check_run: run, sender, ...at }) => {
    const repository = installationRepositoryOf(at.repository, at.installation);
    const check = { name: run.name, externalId: run.external_id || undefined };
    const requested = { repository, headSha: run.head_sha, check, by: sender.login };
    if (action === 'requested_action') return actionRequest(payload, requested);
    return {
      kind: 'rerun',
      ...requested,
      ...branchOf(run.check_suite?.head_branch),
      pullRequests: pullRequestsOf(run.pull_requests, run.head_sha, repository),
      why: 'a person re-requested this check',
    };
  });
}

function actionRequest(
  payload: unknown,
  requested: Pick<DecisionOf<'press'>, 'repository' | 'headSha' | 'check' | 'by'>,
): EventDecision {
  return decideOnPayload(requestedAction, payload, ({ requested_action: { identifier: button } }) => {
    if (button !== 'rollback' && button !== 'redeploy') return ignored('the button is not one of ours');
    const why = `a person requested ${button === 'rollback' ? 'Rollback' : 'Redeploy'}`;
    return { kind: 'press', ...requested, button, why };
  });
}

/** A commit whose checks GitHub waits for, or Re-run for all of them. */
export function decideCheckSuite(payload: unknown): EventDecision {
  const action = actionOf(payload);
  if (action !== 'requested' && action !== 'rerequested') {
    return ignored('a completed check suite needs no action');
  }
  return decideOnPayload(checkSuitePayload, payload, ({ check_suite: suite, sender, ...at }) => {
    const repository = installationRepositoryOf(at.repository, at.installation);
    const commit = { repository, headSha: suite.head_sha, ...branchOf(suite.head_branch) };
    if (action === 'requested')
      return { kind: 'check-suite', ...commit, why: 'GitHub expects the checks of the commit' };
    return {
      kind: 'rerun',
      ...commit,
      pullRequests: pullRequestsOf(suite.pull_requests, suite.head_sha, repository),
      by: sender.login,
      why: 'a person re-requested all checks of the commit',
    };
  });
}

const branchOf = (branch: string | null | undefined): { branch?: string } => (branch ? { branch } : {});

/** As many pull requests are examined anew. */
const maxPullRequests = 100;

/** Those whose head this commit still is. A check may name pull requests of other repositories, too. */
const pullRequestsOf = (named: CheckPullRequests, headSha: string, repository: InstallationRepository): PullRequest[] =>
  named
    .filter(
      ({ head, base }) =>
        head.sha === headSha && (base.repo?.id ?? repository.repositoryId) === repository.repositoryId,
    )
    .slice(0, maxPullRequests)
    .map(({ number, head, base }) => ({
      repository,
      number,
      headSha,
      baseBranch: base.ref,
      fork: head.repo?.id !== repository.repositoryId,
    }));
