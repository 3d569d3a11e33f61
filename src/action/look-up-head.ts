import type { Desired } from '../deploy/file/desired.ts';
import { isTagRef } from '../contract/control/repo-ref.ts';
import { messageOf } from '../kit/errors.ts';
import { repositoryParameters, statusOf, type GitHubClient } from '../github/client.ts';
import { lacksPermission } from '../github/refusal.ts';
import type { Workflow } from '../deploy/file/workflow.ts';
import { sameRepository } from '../deploy/file/repository-url.ts';
import { asLine } from '../deploy/words/sanitize.ts';
import { headOf as headOfCheckout, git } from '../host/git-head.ts';
import { headFields, headOf } from './workflow.ts';

type Warn = (message: string) => void;

const repositoryIn = ({ repository }: Workflow) => {
  const [owner = '', name = ''] = repository.split('/');
  return repositoryParameters({ owner, name });
};

/** Adds the head of the pull request to a workflow, because events of comments do not contain it. */
export async function withPullRequestHead(
  workflow: Workflow,
  client: GitHubClient | undefined,
  warn: Warn,
): Promise<Workflow> {
  const { pullRequest, headSha } = workflow;
  if (!client || pullRequest === undefined || headSha !== undefined) return workflow;
  try {
    const parameters = { ...repositoryIn(workflow), pull_number: pullRequest };
    const { data } = await client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', parameters);
    return { ...workflow, ...headFields(headOf(data)) };
  } catch (error) {
    const reason = asLine(messageOf(error), 300).replace(/\.$/, '');
    const permissionAdvice = lacksPermission(error) ? '; give the job `permissions: pull-requests: read`' : '';
    warn(
      `The head of pull request ${pullRequest} was not read: ${reason}. The commit of this run is reported instead${permissionAdvice}.`,
    );
    return workflow;
  }
}

/**
 * Looks up the head of the ref to deploy, which is what the service builds. Reads it from GitHub with the token, else
 * from the checkout with git. Undefined if unknown, or if the ref belongs to another repository.
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
      const parameters = { ...repositoryIn(workflow), ref };
      const { data } = await client.request('GET /repos/{owner}/{repo}/commits/{ref}', parameters);
      return data.sha;
    } catch (error) {
      if (statusOf(error) === undefined) warn(`The head of ${repoRef} was not read: ${asLine(messageOf(error), 300)}.`);
    }
  }
  const head = await headOfCheckout({ repoUrl, repoRef }, git);
  return head.kind === 'known' ? head.sha : undefined;
}
