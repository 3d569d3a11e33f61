import type { RevisionStatus } from '../../contract/control/revision.ts';

/**
 * Every step that a revision may take from one status to the next (control-service.md, States, names only DEPLOYED;
 * the others are our choice and drawn in this room's README). A step back is one that is taken again after the
 * service was killed in the middle of it. The step out of DEPLOYED is that of a live revision whose agent breaks down again
 * and again. No step leads to CREATE_FAILED and UNKNOWN: they are in the contract for what other services say. Here a
 * creation that fails leaves nothing, and a revision's status stands in the one database that is asked for it.
 */
export const revisionSteps: Readonly<Record<RevisionStatus, readonly RevisionStatus[]>> = {
  CREATING: ['QUEUED', 'AWAITING_BUILD', 'AWAITING_DEPLOY', 'SKIPPED', 'INTERRUPTED'],
  QUEUED: ['AWAITING_BUILD', 'AWAITING_DEPLOY', 'SKIPPED', 'INTERRUPTED'],
  AWAITING_BUILD: ['BUILDING', 'BUILD_FAILED', 'INTERRUPTED'],
  BUILDING: ['AWAITING_BUILD', 'AWAITING_DEPLOY', 'BUILD_FAILED', 'INTERRUPTED'],
  AWAITING_DEPLOY: ['DEPLOYING', 'DEPLOY_FAILED', 'INTERRUPTED'],
  DEPLOYING: ['AWAITING_DEPLOY', 'DEPLOYED', 'DEPLOY_FAILED', 'INTERRUPTED'],
  DEPLOYED: ['DEPLOY_FAILED'],
  CREATE_FAILED: [],
  BUILD_FAILED: [],
  DEPLOY_FAILED: [],
  SKIPPED: [],
  INTERRUPTED: [],
  UNKNOWN: [],
};

/** A revision that nobody has begun yet. Of several, only the newest is ever begun. */
export const waitingStatuses = ['CREATING', 'QUEUED'] as const satisfies readonly RevisionStatus[];

/** A revision that is being carried out. A deployment has at most one. */
export const runningStatuses = [
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
] as const satisfies readonly RevisionStatus[];

/** Waiting or running: the statuses that have a step ahead of them. */
export const unfinishedStatuses: readonly RevisionStatus[] = [...waitingStatuses, ...runningStatuses];

/** True where the rollout of a revision has reached its end, whichever. */
export const hasEnded = (status: RevisionStatus): boolean => !unfinishedStatuses.includes(status);

/** True where the step is one of `revisionSteps`. */
export const mayStep = (from: RevisionStatus, to: RevisionStatus): boolean => revisionSteps[from].includes(to);

/** Where a claimed revision begins: a build that exists already is only deployed. */
export const firstStep = (hasBuild: boolean): RevisionStatus => (hasBuild ? 'AWAITING_DEPLOY' : 'AWAITING_BUILD');
