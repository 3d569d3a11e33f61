import { call, segment } from '../client/call.ts';
import { connection, type ConnectionSettings } from '../client/connection.ts';
import { describeNonJson, unreadable } from '../client/attempt-failure.ts';
import { header, type HttpReply } from '../client/http.ts';
import type { ReadResult } from '../client/response-readers.ts';
import type { GitHubClient, ParametersOf, Route } from '../github/client.ts';
import { untilReset } from '../github/refusal.ts';

/** A client of GitHub with connections to close. */
export interface ConnectedGitHub extends GitHubClient {
  close(): Promise<void>;
}

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/**
 * Creates a client of the runner's GitHub. Like the clients of the two services, it uses the runner's proxy and rejects
 * with `ServiceError`. An Octokit would be a quarter of the bundle.
 *
 * @param apiUrl for example `https://api.github.com`
 * @param settings without `apiKey` and `tenantId`, which GitHub does not use
 */
export function connectGitHub(
  apiUrl: string,
  token: string,
  settings: Omit<ConnectionSettings, 'bearer' | 'apiKey' | 'tenantId'>,
): ConnectedGitHub {
  const link = connection(apiUrl, { ...settings, bearer: token });
  const request: GitHubClient['request'] = (route, parameters) => {
    const { method, path, rest } = expandRoute(route, parameters);
    const isRead = method === 'GET';
    return call(
      link,
      {
        name: `${method} ${path}`,
        method,
        path,
        query: isRead ? queryOf(rest) : '',
        headers: { 'x-github-api-version': '2022-11-28' },
        accept: 'application/vnd.github+json',
        followsRedirect: true,
        readRetryDelay: waitForReset,
        ...(isRead ? {} : { body: rest }),
      },
      parseResponse,
    );
  };
  return { request, close: () => link.close() };
}

/** Waits a second longer, because GitHub rounds the time of the reset to seconds. */
function waitForReset(header: (name: string) => string | undefined, now: number): number | undefined {
  const ms = untilReset(header, now);
  return ms === undefined ? undefined : Math.max(0, ms) + 1_000;
}

/** Fills in the parameters of a route's path, and returns the remaining ones. */
export function expandRoute<Each extends Route>(
  route: Each,
  parameters: ParametersOf<Each>,
): { method: (typeof methods)[number]; path: string; rest: Readonly<Record<string, unknown>> } {
  const [verb = '', template = ''] = route.split(' ');
  const method = methods.find((each) => each === verb) ?? 'GET';
  const rest = new Map<string, unknown>(Object.entries(parameters));
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return segment(name, typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '');
  });
  return { method, path, rest: Object.fromEntries(rest) };
}

function queryOf(values: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : [],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(pairs)).toString()}`;
}

/** Like an Octokit, this trusts GitHub's responses to match its OpenAPI description. */
function parseResponse<Each extends Route>({ status, headers, body }: HttpReply): ReadResult<RouteResponse<Each>> {
  const text = body.toString('utf8');
  try {
    return { ok: true, value: { status, headers: { link: header(headers, 'link') }, data: JSON.parse(text) } };
  } catch {
    return { ok: false, failure: unreadable(status, describeNonJson(text, headers), true) };
  }
}

type RouteResponse<Each extends Route> = Awaited<ReturnType<GitHubClient<Each>['request']>>;
