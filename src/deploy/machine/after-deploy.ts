import type { Verdict } from '../rules/verdict-types.ts';

// Pure.

/** A deploy that has ended in an environment that others follow. */
export interface EndedDeploy {
  /** Whether a commit was deployed, an earlier revision restored, or what serves only tested. */
  did: 'deploy' | 'restore' | 'test';
  /** Its revision serves, and nothing was found against it. */
  isLive: boolean;
  verdict: Verdict['kind'] | undefined;
}

/** Why an ended deploy promotes nothing by itself. */
export type NotPromoted = 'restored' | 'only-tested' | 'not-live' | 'untested' | 'unproven';

/** Whether the commit of an ended deploy goes to the next environment by itself: it is live, and its tests have passed. */
export function afterDeploy({ did, isLive, verdict }: EndedDeploy): 'promote' | NotPromoted {
  if (did === 'restore') return 'restored';
  if (did === 'test') return 'only-tested';
  if (!isLive) return verdict === 'unproven' ? 'unproven' : 'not-live';
  if (verdict === undefined || verdict === 'none') return 'untested';
  return verdict === 'passed' ? 'promote' : 'unproven';
}
