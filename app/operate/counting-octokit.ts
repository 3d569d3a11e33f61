import type { OctokitFor, Sends } from '../github/octokit.ts';
import type { AppMetrics } from './metrics.ts';

/** Octokits whose requests are counted by what they ask for and how it was answered. */
export function countingOctokits(octokitFor: OctokitFor, metrics: Pick<AppMetrics, 'countGithubRequest'>): OctokitFor {
  return async (installationId) => {
    const octokit = await octokitFor(installationId);
    const request: Sends['request'] = async (route, parameters) => {
      try {
        const answer = await octokit.request(route, parameters);
        metrics.countGithubRequest(route, String(answer.status));
        return answer;
      } catch (error) {
        metrics.countGithubRequest(route, resultOf(error));
        throw error;
      }
    };
    return { request };
  };
}

const resultOf = (error: unknown): string =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? String(error.status) : 'no answer';
