import { sameCommit } from '../../contract/control/repo-ref.ts';
import type { Coded } from '../../kit/coded.ts';
import type { ObstacleFacts } from './plan-types.ts';
import type { EarlierObstacleCode } from './trigger-types.ts';

/** What is known of the deployment of the environment before. */
export interface EarlierFacts {
  name: string;
  /** How many deployments have its name; more than one is none. */
  matches: number;
  /** Its live revision; absent where nothing serves. */
  live?: { id: string; commit: string | undefined } | undefined;
  /** The newest verdict on it: absent where there is none, `unreported` where the service keeps none. */
  verdict: string | undefined;
  /** The commit that is to be deployed; absent: whatever the environment before has proven. */
  requested: string | undefined;
}

/** The revision whose commit, and build, is deployed to the next environment. */
export interface Promotion {
  revisionId: string;
  commit: string;
  /** The service keeps no verdicts: that the tests passed is for the caller to know. */
  isUnproven: boolean;
}

/** Why the environment before has nothing to promote. */
export type EarlierObstacle = Coded<ObstacleFacts, EarlierObstacleCode>;

/** Decides whether a commit may go to the next environment: it is live in the one before, and proven there. */
export function decidePromotion({
  name,
  matches,
  live,
  verdict,
  requested,
}: EarlierFacts): Promotion | EarlierObstacle {
  const obstacle = { field: 'environments', name } as const;
  if (matches !== 1) return { ...obstacle, code: 'earlier-missing', matches };
  if (!live) return { ...obstacle, code: 'earlier-not-live' };
  if (!live.commit || (requested !== undefined && !sameCommit(live.commit, requested)))
    return { ...obstacle, code: 'earlier-other-commit', commit: requested, live: live.commit };
  const isUnproven = verdict === 'unreported';
  if (verdict !== 'passed' && !isUnproven)
    return { ...obstacle, code: 'earlier-unproven', commit: live.commit, verdict };
  return { revisionId: live.id, commit: live.commit, isUnproven };
}
