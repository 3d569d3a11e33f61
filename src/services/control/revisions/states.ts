import type { RevisionStatus } from '../../../contract/control/revision-status.ts';

/**
 * Every transition of a revision's status (docs/design/deployments-and-revisions.md: the contract names only DEPLOYED).
 * A transition back repeats work that a killed service had begun. A live revision in a crash loop leaves DEPLOYED. No
 * transition leads to CREATE_FAILED or UNKNOWN, which other services use: here a failed creation leaves no revision.
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

/** The statuses before a revision starts. Of several waiting revisions, only the newest ever starts. */
export const waitingStatuses: readonly RevisionStatus[] = ['CREATING', 'QUEUED'];

/** The statuses of a revision that is being carried out. A deployment has at most one such revision. */
export const runningStatuses: readonly RevisionStatus[] = [
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
];

/** The statuses that are not final: waiting or running. */
export const unfinishedStatuses: readonly RevisionStatus[] = [...waitingStatuses, ...runningStatuses];

/** Whether a revision has reached a final status. */
export const hasEnded = (status: RevisionStatus): boolean => !unfinishedStatuses.includes(status);

/** Whether `revisionSteps` contains the transition. */
export const mayStep = (from: RevisionStatus, to: RevisionStatus): boolean => revisionSteps[from].includes(to);

/** The first status of a claimed revision: an existing build is only deployed. */
export const firstStep = (hasBuild: boolean): RevisionStatus => (hasBuild ? 'AWAITING_DEPLOY' : 'AWAITING_BUILD');
