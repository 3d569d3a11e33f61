import type { Desired } from '../deploy/file/desired.ts';
import { isTagRef } from '../contract/control/repo-ref.ts';
import { messageOf } from '../kit/errors.ts';
import { ofRepository, statusOf, type GitHubClient } from '../github/client.ts';
import { lacksPermission } from '../github/refusal.ts';
import type { Workflow } from '../deploy/file/workflow.ts';
import { sameRepository } from '../deploy/file/repository-url.ts';
import { asLine } from '../deploy/words/sanitize.ts';
import { headOf as headOfCheckout, git } from '../host/git-head.ts';
import { headFields, headOf } from './workflow.ts';

type Warn = (message: string) => void;

const repositoryOf = ({ repository }: Workflow) => {
  const [owner = '', name = ''] = repository.split('/');
  return ofRepository({ owner, name });
};

/** The workflow with the head of its pull request, which the event of a comment or an input does not have. */
export async function withPullRequestHead(
  workflow: Workflow,
  client: GitHubClient | undefined,
  warn: Warn,
): Promise<Workflow> {
  const { pullRequest, headSha } = workflow;
  if (!client || pullRequest === undefined || headSha !== undefined) return workflow;
  try {
    const parameters = { ...repositoryOf(workflow), pull_number: pullRequest };
    const { data } = await client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', parameters);
    return { ...workflow, ...headFields(headOf(data)) };
  } catch (error) {
    const why = asLine(messageOf(error), 300).replace(/\.$/, '');
    const lacks = lacksPermission(error) ? '; give the job `permissions: pull-requests: read`' : '';
    warn(
      `The head of pull request ${pullRequest} was not read: ${why}. The commit of this run is reported instead${lacks}.`,
    );
    return workflow;
  }
}

/**
 * The head of the ref that is deployed from this workflow's own repository: what the service builds, whatever commit
 * the run is of. By the token, or else by git in the checkout; undefined where neither knows.
 */
export async function lookUpHead(
  desired: Desired,
  workflow: Workflow | undefined,
  client: GitHubClient | undefined,
  warn: Warn,
): Promise<string | undefined> {
  if (desired.source !== 'github' || !workflow) return undefined;
  const { repoUrl, repoRef } = desired;
  if (repoUrl === undefined || repoRef === undefined) return undefined;
  const isOwn = sameRepository(`${workflow.serverUrl}/${workflow.repository}`, repoUrl);
  if (!isOwn) return undefined;
  if (client) {
    try {
      const ref = isTagRef(repoRef) ? repoRef.replace(/^refs\//, '') : `heads/${repoRef}`;
      const parameters = { ...repositoryOf(workflow), ref };
      const { data } = await client.request('GET /repos/{owner}/{repo}/commits/{ref}', parameters);
      return data.sha;
    } catch (error) {
      if (statusOf(error) === undefined) warn(`The head of ${repoRef} was not read: ${asLine(messageOf(error), 300)}.`);
    }
  }
  const found = await headOfCheckout({ repoUrl, repoRef }, git);
  return found.kind === 'known' ? found.sha : undefined;
}
