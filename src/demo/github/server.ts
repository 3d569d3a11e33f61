import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { isObject } from '../../kit/json-object.ts';
import { fromJson } from '../../kit/json-text.ts';
import { messageOf } from '../../kit/errors.ts';
import { notFound, Refusal, type ApiResponse, type ApiCall } from './exchange.ts';
import { answerGit, gitAddress } from './git/backend.ts';
import { identify, type Handler, type Operation, type GitHubState } from './state.ts';
import * as app from './answers/app.ts';
import * as checks from './answers/checks.ts';
import * as comments from './answers/comments.ts';
import * as deployments from './answers/deployments.ts';
import * as git from './answers/git.ts';
import * as pulls from './pull-requests.ts';
import * as statuses from './answers/statuses.ts';
import { getRepository, installationRepositories } from './answers/accounts.ts';

/**
 * Creates the listener that answers requests of the API and of git.
 *
 * @param onError called with errors of the gateway itself.
 */
export function createGateway(state: GitHubState, onError: (error: unknown) => void): RequestListener {
  return (request, response) => {
    const handle = async () => {
      const url = new URL(request.url ?? '/', state.url);
      url.pathname = state.testHooks.rewritePath?.(url.pathname) ?? url.pathname;
      const address = gitAddress(url);
      await (address ? answerGit(state, request, response, address) : answerApi(state, request, response, url));
    };
    state.testHooks.wrapRequest(handle).catch((error: unknown) => {
      onError(error);
      if (response.headersSent) response.end();
      else write(response, { status: 500, body: { message: messageOf(error) } });
    });
  };
}

async function answerApi(
  state: GitHubState,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const { call, handler } = await readCall(state, request, url);
  const intercepted = state.testHooks.intercept?.(call);
  if (intercepted === 'close') return void request.socket.destroy();
  const answer = typeof intercepted === 'object' ? intercepted : await answerOf(state, call, handler);
  state.testHooks.onExchange?.({ call, answer });
  if (intercepted === 'lose') return void request.socket.destroy();
  write(response, answer);
}

async function readCall(
  state: GitHubState,
  request: IncomingMessage,
  { pathname: path, searchParams: query }: URL,
): Promise<{ call: ApiCall; handler: Handler | undefined }> {
  const method = request.method ?? 'GET';
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const rawBody = await text(request);
  const json = fromJson(rawBody);
  const caller = await identify(state, headers['authorization']);
  const { template = path, params = {}, handler } = routeOf(method, path, state.testHooks.operations) ?? {};
  const body = isObject(json) ? json : {};
  return { call: { method, path, template, params, query, headers, rawBody, body, caller }, handler };
}

async function answerOf(state: GitHubState, call: ApiCall, handler: Handler | undefined): Promise<ApiResponse> {
  try {
    if (call.caller.kind === 'unknown') throw new Refusal(401, 'Bad credentials');
    if (!handler) throw notFound();
    return await handler(call, state);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

function write(response: ServerResponse, { status, body, headers }: ApiResponse): void {
  const type = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  response.writeHead(status, { ...type, ...headers }).end(body === undefined ? '' : JSON.stringify(body));
}

const repo = '/repos/{owner}/{repo}';

/** Every operation, in GitHub's spelling. The first one that matches a path is used. */
const operations: readonly Operation[] = [
  ['GET', '/app', app.getApp],
  ['GET', '/app/hook/deliveries', app.listDeliveries],
  ['POST', '/app/hook/deliveries/{delivery_id}/attempts', app.attemptDelivery],
  ['GET', '/app/installations', app.listInstallations],
  ['POST', '/app/installations/{installation_id}/access_tokens', app.createToken],
  ['GET', '/installation/repositories', installationRepositories],
  ['GET', `${repo}/branches/{branch}`, git.getBranch],
  ['POST', `${repo}/check-runs`, checks.createRun],
  ['GET', `${repo}/check-runs/{check_run_id}`, checks.getRun],
  ['PATCH', `${repo}/check-runs/{check_run_id}`, checks.updateRun],
  ['GET', `${repo}/commits/{ref}/check-runs`, checks.listRuns],
  ['GET', `${repo}/commits/{ref}/status`, statuses.combinedStatus],
  ['GET', `${repo}/collaborators/{username}/permission`, pulls.handOn],
  ['GET', `${repo}/compare/{basehead}`, git.compare],
  ['GET', `${repo}/contents/{path}`, git.getContents],
  ['GET', `${repo}/deployments`, deployments.listDeployments],
  ['POST', `${repo}/deployments`, deployments.createDeployment],
  ['GET', `${repo}/deployments/{deployment_id}/statuses`, deployments.listDeploymentStatuses],
  ['POST', `${repo}/deployments/{deployment_id}/statuses`, deployments.createDeploymentStatus],
  ['GET', `${repo}/environments/{environment_name}`, deployments.getEnvironment],
  ['GET', `${repo}/issues/{issue_number}/comments`, pulls.handOn],
  ['POST', `${repo}/issues/{issue_number}/comments`, pulls.handOn],
  ['GET', `${repo}/issues/comments/{comment_id}`, comments.readComment],
  ['PATCH', `${repo}/issues/comments/{comment_id}`, pulls.handOn],
  ['POST', `${repo}/issues/comments/{comment_id}/reactions`, comments.createReaction],
  ['GET', `${repo}/pulls/{pull_number}`, pulls.getPull],
  ['GET', `${repo}/pulls/{pull_number}/files`, pulls.listPullFiles],
  ['GET', repo, getRepository],
];

/** Parameters that may contain slashes. */
const multiSegment = new Set(['ref', 'basehead', 'branch', 'path']);

const patternOf = ([method, template, handler]: Operation) => {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const source = template.replace(/\{(\w+)\}/g, (_, name: string) => (multiSegment.has(name) ? '(.+)' : '([^/]+)'));
  return { method, template, handler, names, pattern: new RegExp(`^${source}/?$`) };
};

const patterns = operations.map(patternOf);

/** The operation that a request calls. */
interface Route {
  template: string;
  params: Record<string, string>;
  handler: Handler;
}

/** Finds the operation of a request by its method and path; undefined if there is none. */
export function routeOf(method: string, path: string, extraOperations: readonly Operation[] = []): Route | undefined {
  for (const { method: operationMethod, template, handler, names, pattern } of [
    ...extraOperations.map(patternOf),
    ...patterns,
  ]) {
    const found = operationMethod === method ? pattern.exec(path) : null;
    if (!found) continue;
    const params = Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]));
    return { template, params, handler };
  }
  return undefined;
}
