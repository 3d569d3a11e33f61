import { classOfRevisionStatus, type RevisionStatus } from '../../contract/control/revision-status.ts';

const labels: Readonly<Record<RevisionStatus, string>> = {
  CREATING: 'Creating',
  QUEUED: 'Queued',
  AWAITING_BUILD: 'Waiting to build',
  BUILDING: 'Building',
  AWAITING_DEPLOY: 'Waiting to deploy',
  DEPLOYING: 'Deploying',
  DEPLOYED: 'Deployed',
  CREATE_FAILED: 'Creation failed',
  BUILD_FAILED: 'Build failed',
  DEPLOY_FAILED: 'Deploy failed',
  SKIPPED: 'Skipped',
  INTERRUPTED: 'Interrupted',
  UNKNOWN: 'Unknown',
};
const labelByStatus = new Map<string, string>(Object.entries(labels));

/** A status of a revision in words: `Waiting to build`. A new one is shown as it is. */
export const revisionStatusLabel = (status: string): string => labelByStatus.get(status) ?? status;

const tones = {
  'in-progress': 'busy',
  live: 'good',
  failed: 'bad',
  superseded: 'idle',
  interrupted: 'warn',
  unknown: 'warn',
} as const;

/** The tone of a status's badge. */
export const revisionStatusTone = (status: string) => tones[classOfRevisionStatus(status)];

/** Whether a rollout is in progress. */
export const isInProgress = (status: string): boolean => classOfRevisionStatus(status) === 'in-progress';

/** The short form of an id: `1a2b3c4d`. */
export const shortId = (id: string): string => id.slice(0, 8);
