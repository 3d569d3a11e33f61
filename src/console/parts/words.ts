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

/** An error as class and message. The class is left out if it is `Error`, or if the message starts with it. */
export const errorText = ({ error, message }: { error: string; message: string }): string =>
  isPlainError(error) || message.startsWith(`${error}:`)
    ? message || error
    : message === ''
      ? error
      : `${error}: ${message}`;

/** Whether the class of an error is the general one. */
export const isPlainError = (name: string): boolean => name === 'Error' || name === '';
const units = ['B', 'kB', 'MB', 'GB'] as const;
const digits = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** A size in bytes in words: `3.4 kB`. */
export function sizeText(size: number): string {
  const power = units.findLastIndex((_, index) => size >= 1_000 ** index);
  const at = Math.max(power, 0);
  return `${digits.format(size / 1_000 ** at)} ${units[at] ?? ''}`;
}

/** `350 ms`, `4.2 s`, `3 min 5 s` */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}
