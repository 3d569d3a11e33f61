import { capitalized } from '../../src/kit/plain-text.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import {
  actionOf,
  checkRunPayload,
  checkSuitePayload,
  decideOnPayload,
  ignored,
  installationRepositoryOf,
  requestedAction,
  statusPayload,
  type CheckPullRequests,
} from './event-payloads.ts';
import type { DecisionOf, EventDecision, PullRequest } from './event-types.ts';

/** A status of a commit, which deploys may wait for. */
export function decideStatus(payload: unknown): EventDecision {
  return decideOnPayload(statusPayload, payload, ({ sha, context, repository, installation }) =>
    checksChanged(
      installationRepositoryOf(repository, installation),
      sha,
      'a status of the commit has changed',
      context,
    ),
  );
}

const checksChanged = (
  repository: InstallationRepository,
  headSha: string,
  why: string,
  check?: string,
): DecisionOf<'checks-changed'> => ({
  kind: 'checks-changed',
  repository,
  headSha,
  ...(check === undefined ? {} : { check }),
  why,
});

/** Re-run and the buttons of one check, and the end of any check, which deploys may wait for. */
export function decideCheckRun(payload: unknown): EventDecision {
  const action = actionOf(payload);
  if (action !== 'rerequested' && action !== 'requested_action' && action !== 'completed') {
    return ignored('of a check run only its end, Re-run and the buttons ask for something');
  }
  return decideOnPayload(checkRunPayload, payload, ({ check_run: run, sender, ...at }) => {
    const repository = installationRepositoryOf(at.repository, at.installation);
    if (action === 'completed')
      return checksChanged(repository, run.head_sha, 'a check of the commit has ended', run.name);
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
    if (button !== 'rollback' && button !== 'redeploy' && button !== 'promote' && button !== 'approve')
      return ignored('the button is not one of ours');
    const why = `a person requested ${capitalized(button)}`;
    return { kind: 'press', ...requested, button, why };
  });
}

/** A commit whose checks GitHub waits for, or Re-run for all of them. */
export function decideCheckSuite(payload: unknown): EventDecision {
  const action = actionOf(payload);
  if (action !== 'requested' && action !== 'rerequested' && action !== 'completed') {
    return ignored('a check suite is requested, requested again or completed, and nothing else');
  }
  return decideOnPayload(checkSuitePayload, payload, ({ check_suite: suite, sender, ...at }) => {
    const repository = installationRepositoryOf(at.repository, at.installation);
    if (action === 'completed')
      return checksChanged(repository, suite.head_sha, 'a check suite of the commit has ended');
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

/** The maximum number of pull requests that are examined again. */
const maxPullRequests = 100;

/** The pull requests whose head is still this commit. A check may list pull requests of other repositories too. */
const pullRequestsOf = (
  listed: CheckPullRequests,
  headSha: string,
  repository: InstallationRepository,
): PullRequest[] =>
  listed
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
