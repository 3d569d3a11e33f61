/** Every known revision status, and its meaning for a waiting client (docs/design/deployments-and-revisions.md). */
export const revisionStatusClasses = {
  CREATING: 'in-progress',
  QUEUED: 'in-progress',
  AWAITING_BUILD: 'in-progress',
  BUILDING: 'in-progress',
  AWAITING_DEPLOY: 'in-progress',
  DEPLOYING: 'in-progress',
  DEPLOYED: 'live',
  CREATE_FAILED: 'failed',
  BUILD_FAILED: 'failed',
  DEPLOY_FAILED: 'failed',
  SKIPPED: 'superseded',
  INTERRUPTED: 'interrupted',
  UNKNOWN: 'unknown',
} as const;
export type RevisionStatus = keyof typeof revisionStatusClasses;
export const revisionStatuses = Object.keys(revisionStatusClasses).filter((word): word is RevisionStatus =>
  Object.hasOwn(revisionStatusClasses, word),
);
export type RevisionStatusClass = (typeof revisionStatusClasses)[RevisionStatus];

const classes = new Map<string, RevisionStatusClass>(Object.entries(revisionStatusClasses));

/** The class of a status; a new one is `unknown`: neither live nor failed. */
export const classOfRevisionStatus = (status: string): RevisionStatusClass => classes.get(status) ?? 'unknown';
