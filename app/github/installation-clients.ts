import { isObject } from '../../src/kit/json-object.ts';
import type { Logger } from '../../src/kit/logger.ts';
import { backoffMs, type Clock, unlessAborted, withTimeout } from '../../src/kit/clock.ts';
import type { ResponseOf, GitHubClient, ParametersOf, Route } from '../../src/github/client.ts';
import { quotaOf, readFailure } from './failure.ts';
import { InstallationPaused } from './github-api.ts';
import { githubRateLimits, type RateLimits, RateLimiter, type Requester, type RequestKind } from './rate-limiter.ts';
import { ProbotOctokit } from 'probot';

export interface InstallationClientOptions {
  octokitFor: OctokitFor;
  clock: Clock;
  random?: () => number;
  log?: Logger;
  limits?: RateLimits;
  /** Timeout of one request (ms); by default 30,000. */
  timeoutMs?: number;
}

/** How often a read is attempted, and the delay before the first retry (ms). */
const maxAttempts = 4;
const firstWaitMs = 500;
const maxBackoffMs = 2_000;

/** How long a write waits for its turn (ms). If it would take longer, its job is retried later. */
const maxWaitMs = 5_000;

/** The id under which the requests of the App itself are rate-limited; no installation has it. */
const appItself = 0;

/** A client whose writes are paced. */
export interface RateLimitedClient extends GitHubClient<AppRoute> {
  /** Checks for a turn before reads that would be wasted if their write must wait. @throws InstallationPaused */
  expectTurn(kind: 'change' | 'make'): void;
}

/** A client of an installation (undefined: of the App itself) for this requester; `own` by default. */
export type ClientOf = (installationId: number | undefined, requester?: Requester) => RateLimitedClient;

/**
 * Creates a client for each installation (undefined: for the App itself). It paces writes, pauses a single installation
 * when GitHub rate-limits it, retries failed reads, and rejects with `GitHubApiError` or `InstallationPaused` only. A
 * write is sent once.
 */
export function createInstallationClients(options: InstallationClientOptions): ClientOf {
  const { octokitFor, clock, random = Math.random, log, limits = githubRateLimits, timeoutMs = 30_000 } = options;
  const rateLimiters = new Map<number, RateLimiter>();

  const rateLimiterOf = (id: number): RateLimiter => {
    const known = rateLimiters.get(id);
    if (known) return known;
    for (const [other, rateLimiter] of rateLimiters) if (rateLimiter.isIdle(clock.now())) rateLimiters.delete(other);
    const made = new RateLimiter(limits);
    rateLimiters.set(id, made);
    return made;
  };

  return (installationId, requester = 'own') => {
    const id = installationId ?? appItself;

    const send: GitHubClient<AppRoute>['request'] = async (route, parameters) => {
      const kind = kindOf(route);
      const rateLimiter = rateLimiterOf(id);
      for (let attempt = 1; ; attempt += 1) {
        await takeTurn(rateLimiter, kind);
        try {
          const sendOnce = async (signal: AbortSignal) => {
            const octokit = await octokitFor(installationId);
            return octokit.request(route, { ...parameters, request: { signal } });
          };
          // The request for a token takes no signal.
          const answer = await withTimeout(clock, timeoutMs, (signal) => unlessAborted(sendOnce(signal), signal));
          const now = clock.now();
          const quota = quotaOf({ ...answer.headers }, now);
          rateLimiter.recordResponse(quota);
          if (quota?.remaining === 0)
            pause(rateLimiter, { until: quota.until, why: 'its requests of this hour are used up', isStated: true });
          return answer;
        } catch (error) {
          const now = clock.now();
          const failure = readFailure(error, { route, subject: aboutOf(parameters), isWrite: kind !== 'read', now });
          if (failure === undefined) throw error;
          if (failure.kind === 'paused') throw new InstallationPaused(id, pause(rateLimiter, failure), failure.why);
          if (kind !== 'read' || !failure.isTransient || attempt >= maxAttempts) throw failure.error;
          // Exponential backoff with jitter: requests that failed together do not retry together.
          await clock.sleep(backoffMs(attempt, firstWaitMs, maxBackoffMs) * (0.5 + random() / 2));
        }
      }
    };

    const takeTurn = async (rateLimiter: RateLimiter, kind: RequestKind): Promise<void> => {
      const now = clock.now();
      const turn = rateLimiter.turn(kind, now, maxWaitMs, requester);
      if (turn.kind === 'not-before') throw new InstallationPaused(id, turn.at, turn.why);
      if (turn.at <= now) return;
      await clock.sleep(turn.at - now);
      const meanwhile = rateLimiter.turn('read', clock.now(), 0);
      if (meanwhile.kind === 'not-before') throw new InstallationPaused(id, meanwhile.at, meanwhile.why);
    };

    const pause = (rateLimiter: RateLimiter, requested: { until: number; why: string; isStated: boolean }): number => {
      const until = rateLimiter.pause(requested.until, clock.now(), requested.why, requested.isStated);
      log?.warn(`GitHub paused installation ${id} until ${new Date(until).toISOString()}: ${requested.why}`);
      return until;
    };

    const expectTurn = (kind: 'change' | 'make'): void => {
      const refusal = rateLimiterOf(id).refusal(kind, clock.now(), maxWaitMs, requester);
      if (refusal) throw new InstallationPaused(id, refusal.at, refusal.why);
    };

    return { request: send, expectTurn };
  };
}

const kindOf = (route: AppRoute): RequestKind =>
  route.startsWith('GET ') ? 'read' : route.startsWith('POST ') ? 'make' : 'change';

function aboutOf(parameters: object): string {
  const parameter = (name: string): string => {
    const value: unknown = Reflect.get(parameters, name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  return parameter('repo') ? `${parameter('owner')}/${parameter('repo')}` : 'the App';
}

/** The requests of the App, named as in GitHub's OpenAPI description. */
export type AppRoute =
  | Exclude<Route, 'GET /user'>
  | 'GET /repos/{owner}/{repo}'
  | 'GET /repos/{owner}/{repo}/branches'
  | 'GET /repos/{owner}/{repo}/branches/{branch}'
  | 'GET /repos/{owner}/{repo}/compare/{basehead}'
  | 'GET /repos/{owner}/{repo}/commits/{ref}/status'
  | 'GET /repos/{owner}/{repo}/rules/branches/{branch}'
  | 'GET /repos/{owner}/{repo}/contents/{path}'
  | 'GET /repos/{owner}/{repo}/environments/{environment_name}'
  | 'GET /repos/{owner}/{repo}/environments/{environment_name}/deployment-branch-policies'
  | 'GET /repos/{owner}/{repo}/environments/{environment_name}/deployment_protection_rules'
  | 'GET /orgs/{org}/teams/{team_slug}/memberships/{username}'
  | 'GET /repos/{owner}/{repo}/collaborators/{username}/permission'
  | 'GET /repos/{owner}/{repo}/pulls/{pull_number}/files'
  | 'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions'
  | 'GET /app'
  | 'GET /app/hook/deliveries'
  | 'POST /app/hook/deliveries/{delivery_id}/attempts'
  | 'GET /app/installations'
  | 'GET /installation/repositories';

/**
 * The Octokit for Probot (`new Probot({ Octokit: AppOctokit, ... })`), without its own throttling and retries. Ours
 * keep installations independent of one another, and never repeat a write whose effect is unknown.
 */
export const AppOctokit = ProbotOctokit.defaults((options: object) => ({
  ...options,
  ...tokensFromSameServer(options),
  throttle: { enabled: false },
  retry: { enabled: false },
}));

/** Requests tokens from the Octokit's server. Probot would request renewed ones from api.github.com. */
function tokensFromSameServer(options: { baseUrl?: unknown; auth?: unknown }): { auth?: object } {
  const { baseUrl, auth } = options;
  if (baseUrl === undefined || !isObject(auth)) return {};
  const { request } = auth;
  if (typeof request !== 'function' || !('defaults' in request) || typeof request.defaults !== 'function') return {};
  const serverRequest: unknown = Reflect.apply(request.defaults, request, [{ baseUrl }]);
  return { auth: { ...auth, request: serverRequest } };
}

/** The part of an Octokit that is used: it sends a request with a valid token. */
export interface OctokitLike {
  request<Each extends AppRoute>(
    route: Each,
    parameters: ParametersOf<Each> & { request?: { signal?: AbortSignal } },
  ): Promise<Pick<ResponseOf<Each>, 'data' | 'headers'> & { status: number }>;
}

/** Returns an Octokit for an installation, or for the App itself, which authenticates with its private key. */
export type OctokitFor = (installationId: number | undefined) => Promise<OctokitLike>;
