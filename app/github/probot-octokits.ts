import type { Clock } from '../../src/kit/clock.ts';
import { statusOf } from '../../src/github/client.ts';
import { refusesPermission } from '../../src/github/refusal.ts';
import type { OctokitFor, OctokitLike } from './installation-clients.ts';

/** An Octokit that can renew its token. */
interface RenewableOctokit extends OctokitLike {
  auth(how: { type: 'installation'; refresh: true }): Promise<unknown>;
}

/** The minimum interval between renewals (ms): a permission that a new token lacks is missing in the next one too. */
const minRenewalIntervalMs = 60_000;

/**
 * Probot's Octokits; `probot` is anything with Probot's `auth`. An Octokit keeps a token for nearly an hour. One that
 * GitHub refuses is renewed, because the account may have accepted more permissions since.
 */
export function octokitsOf(
  probot: { auth(installationId?: number): Promise<RenewableOctokit> },
  clock: Pick<Clock, 'now'>,
): OctokitFor {
  const renewedAt = new Map<number, number>();

  const mayRenew = (installationId: number, error: unknown): boolean => {
    if (statusOf(error) !== 401 && !refusesPermission(error)) return false;
    const now = clock.now();
    for (const [id, at] of renewedAt) if (at + minRenewalIntervalMs <= now) renewedAt.delete(id);
    if (renewedAt.has(installationId)) return false;
    renewedAt.set(installationId, now);
    return true;
  };

  return async (installationId) => {
    const octokit = await probot.auth(installationId);
    if (installationId === undefined) return octokit;
    const request: OctokitLike['request'] = async (route, parameters) => {
      try {
        return await octokit.request(route, parameters);
      } catch (error) {
        if (!mayRenew(installationId, error)) throw error;
        // A refused request had no effect: a write is repeated as safely as a read.
        await octokit.auth({ type: 'installation', refresh: true });
        return octokit.request(route, parameters);
      }
    };
    return { request };
  };
}
