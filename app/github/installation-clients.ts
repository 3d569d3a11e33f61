import { isObject } from '../../src/kit/json-object.ts';
import type { Logger } from '../../src/kit/logger.ts';
import { backoffMs, type Clock, unlessAborted, withTimeout } from '../../src/kit/clock.ts';
import type { ResponseOf, GitHubClient, ParametersOf, Route } from '../../src/github/client.ts';
import { quotaOf, readFailure } from './failure.ts';
import { InstallationPaused } from './github-api.ts';
import { githubRateLimits, type RateLimits, RateLimiter, type RequestCause, type RequestKind } from './rate-limiter.ts';
import { ProbotOctokit } from 'probot';

export interface InstallationClientOptions {
  octokitFor: OctokitFor;
  clock: Clock;
  random?: () => number;
  log?: Logger;
  limits?: RateLimits;
  /** How long one request may take (ms); 30,000 when absent. */
  timeoutMs?: number;
}

/** How often a reading request is sent at most, and how long the first wait before a repetition is (ms). */
const attempts = 4;
const firstWaitMs = 500;
const maxBackoffMs = 2_000;

/** How long a write waits for its turn here (ms); a longer wait is left to its job. */
const maxWaitMs = 5_000;

/** The requests of the App itself are paced like those of an installation; no installation has this id. */
const appItself = 0;

/** A client whose writes are paced. */
export interface RateLimitedClient extends GitHubClient<AppRoute> {
  /** Checks for a turn before reads that would be wasted if their write must wait. @throws InstallationPaused */
  expectTurn(kind: 'change' | 'make'): void;
}

/** A client of an installation (undefined: of the App itself) for requests of this cause; `own` by default. */
export type ClientOf = (installationId: number | undefined, cause?: RequestCause) => RateLimitedClient;

/**
 * Creates a client for each installation (undefined: for the App itself). It paces writes, pauses a single installation
 * when GitHub rate-limits it, retries failed reads, and rejects with `GitHubApiError` or `InstallationPaused` only. A
 * write is sent once.
 */
export function createInstallationClients(options: InstallationClientOptions): ClientOf {
  const { octokitFor, clock, random = Math.random, log, limits = githubRateLimits, timeoutMs = 30_000 } = options;
  const paces = new Map<number, RateLimiter>();

  const paceOf = (id: number): RateLimiter => {
    const known = paces.get(id);
    if (known) return known;
    for (const [other, rateLimiter] of paces) if (rateLimiter.isIdle(clock.now())) paces.delete(other);
    const made = new RateLimiter(limits);
    paces.set(id, made);
    return made;
  };

  return (installationId, cause = 'own') => {
    const id = installationId ?? appItself;

    const send: GitHubClient<AppRoute>['request'] = async (route, parameters) => {
      const kind = kindOf(route);
      const rateLimiter = paceOf(id);
      for (let attempt = 1; ; attempt += 1) {
        await takeTurn(rateLimiter, kind);
        try {
          const sent = async (signal: AbortSignal) => {
            const octokit = await octokitFor(installationId);
            return octokit.request(route, { ...parameters, request: { signal } });
          };
          // The request for a token knows no signal.
          const answer = await withTimeout(clock, timeoutMs, (signal) => unlessAborted(sent(signal), signal));
          const now = clock.now();
          const quota = quotaOf({ ...answer.headers }, now);
          rateLimiter.answered(quota);
          if (quota?.remaining === 0)
            pause(rateLimiter, { until: quota.until, why: 'its requests of this hour are used up', stated: true });
          return answer;
        } catch (error) {
          const now = clock.now();
          const failure = readFailure(error, { route, about: aboutOf(parameters), writes: kind !== 'read', now });
          if (failure === undefined) throw error;
          if (failure.kind === 'paused') throw new InstallationPaused(id, pause(rateLimiter, failure), failure.why);
          if (kind !== 'read' || !failure.passing || attempt >= attempts) throw failure.error;
          // Exponential backoff with jitter: requests that failed together do not retry together.
          await clock.sleep(backoffMs(attempt, firstWaitMs, maxBackoffMs) * (0.5 + random() / 2));
        }
      }
    };

    const takeTurn = async (rateLimiter: RateLimiter, kind: RequestKind): Promise<void> => {
      const now = clock.now();
      const turn = rateLimiter.turn(kind, now, maxWaitMs, cause);
      if (turn.kind === 'not-before') throw new InstallationPaused(id, turn.at, turn.why);
      if (turn.at <= now) return;
      await clock.sleep(turn.at - now);
      const meanwhile = rateLimiter.turn('read', clock.now(), 0);
      if (meanwhile.kind === 'not-before') throw new InstallationPaused(id, meanwhile.at, meanwhile.why);
    };

    const pause = (rateLimiter: RateLimiter, requested: { until: number; why: string; stated: boolean }): number => {
      const until = rateLimiter.pause(requested.until, clock.now(), requested.why, requested.stated);
      log?.warn(`GitHub paused installation ${id} until ${new Date(until).toISOString()}: ${requested.why}`);
      return until;
    };

    const expectTurn = (kind: 'change' | 'make'): void => {
      const refused = paceOf(id).refusal(kind, clock.now(), maxWaitMs, cause);
      if (refused) throw new InstallationPaused(id, refused.at, refused.why);
    };

    return { request: send, expectTurn };
  };
}

const kindOf = (route: AppRoute): RequestKind =>
  route.startsWith('GET ') ? 'read' : route.startsWith('POST ') ? 'make' : 'change';

function aboutOf(parameters: object): string {
  const part = (name: string): string => {
    const value: unknown = Reflect.get(parameters, name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  return part('repo') ? `${part('owner')}/${part('repo')}` : 'the App';
}

/** The requests that the App makes, by the names that GitHub's own document gives them. */
export type AppRoute =
  | Exclude<Route, 'GET /user'>
  | 'GET /repos/{owner}/{repo}'
  | 'GET /repos/{owner}/{repo}/branches/{branch}'
  | 'GET /repos/{owner}/{repo}/compare/{basehead}'
  | 'GET /repos/{owner}/{repo}/contents/{path}'
  | 'GET /repos/{owner}/{repo}/collaborators/{username}/permission'
  | 'GET /repos/{owner}/{repo}/pulls/{pull_number}/files'
  | 'GET /app/hook/deliveries'
  | 'POST /app/hook/deliveries/{delivery_id}/attempts'
  | 'GET /app/installations'
  | 'GET /installation/repositories';

/**
 * The Octokit that Probot is made with (`new Probot({ Octokit: AppOctokit, ... })`). It sends once and waits for
 * nothing: pacing, pauses and repetitions are ours, so that one installation never holds another and a write whose
 * effect is not known is never sent again blindly.
 */
export const AppOctokit = ProbotOctokit.defaults((options: object) => ({
  ...options,
  ...tokensFromSameServer(options),
  throttle: { enabled: false },
  retry: { enabled: false },
}));

/** Probot has a token that is made anew requested from api.github.com, whichever server the Octokit is for. */
function tokensFromSameServer(options: { baseUrl?: unknown; auth?: unknown }): { auth?: object } {
  const { baseUrl, auth } = options;
  if (baseUrl === undefined || !isObject(auth)) return {};
  const { request } = auth;
  if (typeof request !== 'function' || !('defaults' in request) || typeof request.defaults !== 'function') return {};
  const ofServer: unknown = Reflect.apply(request.defaults, request, [{ baseUrl }]);
  return { auth: { ...auth, request: ofServer } };
}

/** The little that is needed of an Octokit: one request with a token that is fresh. */
export interface OctokitLike {
  request<Each extends AppRoute>(
    route: Each,
    parameters: ParametersOf<Each> & { request?: { signal?: AbortSignal } },
  ): Promise<Pick<ResponseOf<Each>, 'data' | 'headers'> & { status: number }>;
}

/** Returns an Octokit for an installation, or for the App itself, which authenticates with its private key. */
export type OctokitFor = (installationId: number | undefined) => Promise<OctokitLike>;
