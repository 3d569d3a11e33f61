import { isObject } from '../../contract/json-object.ts';
import { Refusal, type Answer, type ApiCall } from './exchange.ts';
import { demand, repositoryFor, type Site } from './site.ts';
import { withWholeAccounts } from './answers/accounts.ts';
import * as app from './answers/app-routes.ts';
import * as checks from './answers/check-routes.ts';
import { createComment, deleteComment } from './answers/comments.ts';
import { getContents } from './answers/contents.ts';
import * as deployments from './answers/deployments.ts';
import * as git from './answers/git-routes.ts';
import * as pulls from './answers/pull-routes.ts';
import { permissionOf } from './answers/permission.ts';
import { getRepository, installationRepositories } from './answers/repository-answers.ts';
import * as statuses from './answers/statuses.ts';

export type Handler = (call: ApiCall, site: Site) => Promise<Answer>;

/** Requests that the emulated GitHub handles correctly: passed on, with complete organizations. */
const handOn: Handler = async (call, site) => {
  const { method, path, query, headers, sent, body, params, who } = call;
  if ('repo' in params) demand(who, repositoryFor(site, params, who), 'metadata', 'read');
  const search = query.size > 0 ? `?${query.toString()}` : '';
  const answer = await site.emulated.ask(
    method,
    `${path}${search}`,
    headers['authorization'],
    sent === '' || !isObject(body) ? undefined : body,
  );
  return { status: answer.status, body: withWholeAccounts(site, answer.body) };
};

/** For people only: an installation gets a 403. */
const getUser: Handler = async (call, site) => {
  if (call.who.kind === 'person') return handOn(call, site);
  const isUnknown = call.who.kind === 'anonymous';
  throw isUnknown
    ? new Refusal(401, 'Requires authentication')
    : new Refusal(403, 'Resource not accessible by integration');
};

const repo = '/repos/{owner}/{repo}';

/** Every operation, in GitHub's spelling. Where two fit a path the first counts. */
const operations: readonly (readonly [method: string, template: string, handler: Handler])[] = [
  ['GET', '/app', app.getApp],
  ['GET', '/app/hook/config', app.getHookConfig],
  ['PATCH', '/app/hook/config', app.setHookConfig],
  ['GET', '/app/hook/deliveries', app.listDeliveries],
  ['GET', '/app/hook/deliveries/{delivery_id}', app.getDelivery],
  ['POST', '/app/hook/deliveries/{delivery_id}/attempts', app.attemptDelivery],
  ['GET', '/app/installations', app.listInstallations],
  ['GET', '/app/installations/{installation_id}', app.getInstallation],
  ['POST', '/app/installations/{installation_id}/access_tokens', app.createToken],
  ['POST', '/app-manifests/{code}/conversions', app.convertManifest],
  ['GET', '/installation/repositories', installationRepositories],
  ['DELETE', '/installation/token', app.endToken],
  ['GET', '/rate_limit', app.rateLimit],
  ['GET', '/user', getUser],
  ['GET', '/users/{username}', handOn],
  ['GET', `${repo}/installation`, app.installationOfRepository],
  ['GET', `${repo}/branches`, git.listBranches],
  ['GET', `${repo}/branches/{branch}`, git.getBranch],
  ['POST', `${repo}/check-runs`, checks.createRun],
  ['GET', `${repo}/check-runs/{check_run_id}`, checks.getRun],
  ['PATCH', `${repo}/check-runs/{check_run_id}`, checks.updateRun],
  ['GET', `${repo}/check-runs/{check_run_id}/annotations`, checks.listAnnotations],
  ['POST', `${repo}/check-runs/{check_run_id}/rerequest`, checks.rerequestRun],
  ['POST', `${repo}/check-suites`, checks.createSuite],
  ['GET', `${repo}/check-suites/{check_suite_id}`, checks.getSuite],
  ['GET', `${repo}/check-suites/{check_suite_id}/check-runs`, checks.listRunsOfSuite],
  ['POST', `${repo}/check-suites/{check_suite_id}/rerequest`, checks.rerequestSuite],
  ['GET', `${repo}/collaborators/{username}/permission`, permissionOf],
  ['GET', `${repo}/commits`, git.listOfCommits],
  ['GET', `${repo}/commits/{commit_sha}/pulls`, pulls.listPullsOfCommit],
  ['GET', `${repo}/commits/{ref}/check-runs`, checks.listRuns],
  ['GET', `${repo}/commits/{ref}/check-suites`, checks.listSuites],
  ['GET', `${repo}/commits/{ref}/status`, statuses.combinedStatus],
  ['GET', `${repo}/commits/{ref}/statuses`, statuses.listStatuses],
  ['GET', `${repo}/commits/{ref}`, git.getCommit],
  ['GET', `${repo}/compare/{basehead}`, git.compare],
  ['GET', `${repo}/contents/{path}`, getContents],
  ['GET', `${repo}/deployments`, deployments.listDeployments],
  ['POST', `${repo}/deployments`, deployments.createDeployment],
  ['GET', `${repo}/deployments/{deployment_id}`, deployments.getDeployment],
  ['GET', `${repo}/deployments/{deployment_id}/statuses`, deployments.listDeploymentStatuses],
  ['POST', `${repo}/deployments/{deployment_id}/statuses`, deployments.createDeploymentStatus],
  ['GET', `${repo}/deployments/{deployment_id}/statuses/{status_id}`, deployments.getDeploymentStatus],
  ['GET', `${repo}/git/commits/{commit_sha}`, git.getGitCommit],
  ['GET', `${repo}/git/matching-refs/{ref}`, git.matchingRefs],
  ['GET', `${repo}/git/ref/{ref}`, git.getRef],
  ['GET', `${repo}/issues/{issue_number}/comments`, handOn],
  ['POST', `${repo}/issues/{issue_number}/comments`, createComment],
  ['GET', `${repo}/issues/comments/{comment_id}`, handOn],
  ['PATCH', `${repo}/issues/comments/{comment_id}`, handOn],
  ['DELETE', `${repo}/issues/comments/{comment_id}`, deleteComment],
  ['GET', `${repo}/pulls`, pulls.listPulls],
  ['POST', `${repo}/pulls`, pulls.createPull],
  ['GET', `${repo}/pulls/{pull_number}`, pulls.getPull],
  ['PATCH', `${repo}/pulls/{pull_number}`, pulls.updatePull],
  ['GET', `${repo}/pulls/{pull_number}/commits`, pulls.listPullCommits],
  ['GET', `${repo}/pulls/{pull_number}/files`, pulls.listPullFiles],
  ['POST', `${repo}/statuses/{sha}`, statuses.createStatus],
  ['GET', repo, getRepository],
];

/** Parts of a path that may hold slashes. A path of a file may be empty besides: the root. */
const long = new Set(['ref', 'basehead', 'branch']);

const patterns = operations.map(([method, template, handler]) => {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const source = template
    .replace('/{path}', '(?:/(.*))?')
    .replace(/\{(\w+)\}/g, (_, name: string) => (long.has(name) ? '(.+)' : '([^/]+)'));
  return { method, template, handler, names, pattern: new RegExp(`^${source}/?$`) };
});

/** An operation found for a request. */
export interface Route {
  template: string;
  params: Record<string, string>;
  handler: Handler;
}

/** Finds the operation of a request by its method and path; undefined for what this GitHub does not know. */
export function routeOf(method: string, path: string): Route | undefined {
  for (const { method: wanted, template, handler, names, pattern } of patterns) {
    const found = wanted === method ? pattern.exec(path) : null;
    if (!found) continue;
    const params = Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]));
    return { template, params, handler };
  }
  return undefined;
}
