import { ProbotOctokit } from 'probot';
import type { AnswerOf, ParametersOf, Route } from '../../src/github/client.ts';

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
  throttle: { enabled: false },
  retry: { enabled: false },
}));

/** The little that is needed of an Octokit: one request with a token that is fresh. */
export interface Sends {
  request<Each extends AppRoute>(
    route: Each,
    parameters: ParametersOf<Each> & { request?: { signal?: AbortSignal } },
  ): Promise<Pick<AnswerOf<Each>, 'data' | 'headers'> & { status: number }>;
}

/** Returns an Octokit for an installation, or for the App itself, which authenticates with its private key. */
export type OctokitFor = (installationId: number | undefined) => Promise<Sends>;

/** Probot's Octokits; `probot` is anything with Probot's `auth`. */
export const octokitsOf =
  (probot: { auth(installationId?: number): Promise<Sends> }): OctokitFor =>
  (installationId) =>
    probot.auth(installationId);
