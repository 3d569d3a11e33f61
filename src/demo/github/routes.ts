import { isObject } from '../../contract/json-object.ts';
import type { Answer, ApiCall } from './exchange.ts';
import { demand, repositoryFor, type Site } from './site.ts';
import { withWholeAccounts } from './answers/accounts.ts';
import * as app from './answers/app.ts';
import * as checks from './answers/checks.ts';
import * as deployments from './answers/deployments.ts';
import * as git from './answers/git.ts';
import { listPullFiles } from './answers/pulls.ts';
import { getPermission, getRepository } from './answers/repositories.ts';

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

const repo = '/repos/{owner}/{repo}';

/** Every operation, in GitHub's spelling. Where two fit a path the first counts. */
const operations: readonly (readonly [method: string, template: string, handler: Handler])[] = [
  ['GET', '/app', app.getApp],
  ['GET', '/app/hook/deliveries', app.listDeliveries],
  ['POST', '/app/hook/deliveries/{delivery_id}/attempts', app.attemptDelivery],
  ['GET', '/app/installations', app.listInstallations],
  ['POST', '/app/installations/{installation_id}/access_tokens', app.createToken],
  ['GET', '/installation/repositories', app.installationRepositories],
  ['DELETE', '/installation/token', app.endToken],
  ['GET', `${repo}/branches/{branch}`, git.getBranch],
  ['POST', `${repo}/check-runs`, checks.createRun],
  ['GET', `${repo}/check-runs/{check_run_id}`, checks.getRun],
  ['PATCH', `${repo}/check-runs/{check_run_id}`, checks.updateRun],
  ['GET', `${repo}/check-runs/{check_run_id}/annotations`, checks.listAnnotations],
  ['GET', `${repo}/collaborators/{username}/permission`, getPermission],
  ['GET', `${repo}/commits/{ref}/check-runs`, checks.listRuns],
  ['GET', `${repo}/compare/{basehead}`, git.compare],
  ['GET', `${repo}/contents/{path}`, git.getContents],
  ['GET', `${repo}/deployments`, deployments.listDeployments],
  ['POST', `${repo}/deployments`, deployments.createDeployment],
  ['GET', `${repo}/deployments/{deployment_id}/statuses`, deployments.listDeploymentStatuses],
  ['POST', `${repo}/deployments/{deployment_id}/statuses`, deployments.createDeploymentStatus],
  ['GET', `${repo}/issues/{issue_number}/comments`, handOn],
  ['POST', `${repo}/issues/{issue_number}/comments`, handOn],
  ['PATCH', `${repo}/issues/comments/{comment_id}`, handOn],
  ['GET', `${repo}/pulls/{pull_number}/files`, listPullFiles],
  ['GET', repo, getRepository],
];

/** Parts of a path that may hold slashes. */
const long = new Set(['ref', 'basehead', 'branch', 'path']);

const patterns = operations.map(([method, template, handler]) => {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const source = template.replace(/\{(\w+)\}/g, (_, name: string) => (long.has(name) ? '(.+)' : '([^/]+)'));
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
