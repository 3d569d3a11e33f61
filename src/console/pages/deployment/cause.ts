import type { Commit, HistoryEntry } from '../../../contract/control/revision-history.ts';
import { classOfRevisionStatus } from '../../../contract/control/revision-status.ts';

/** A part of a sentence: our words, text that others wrote, or a revision. */
export type CausePart = string | { text: string } | { revisionId: string };

/** Whether a revision came with its deployment, before a source was uploaded: it has nothing to build. */
export const isWithoutSource = ({ cause, revision }: Pick<HistoryEntry, 'cause' | 'revision'>): boolean =>
  cause.kind === 'create' &&
  revision.source === 'internal_source' &&
  !revision.source_revision_config.source_tarball_path;

/** Whether a revision serves or has served; only such a one is worth going back to. */
export const hasServed = ({ is_live, revision, statuses }: HistoryEntry): boolean =>
  is_live || [revision, ...statuses].some(({ status }) => classOfRevisionStatus(status) === 'live');

const tarballPath = 'source_revision_config.source_tarball_path';
/** What an upload may change beside its tarball. */
const ofUpload: readonly string[] = [tarballPath, 'source_revision_config.graph_config_path'];

/** A changed field in words, where its path says nothing to people. */
export const changedFieldText = (field: string): string => (field === tarballPath ? 'source' : field);

/** What caused a revision, in words: `Push by Ada: Fix greeting (a1b2c3d)`. */
export function causeParts(entry: HistoryEntry): CausePart[] {
  const { cause, commit, changed_fields } = entry;
  const { kind, redeploy_of } = cause;
  if (kind === 'push') return commit === null ? ['Push'] : ['Push', ...pushed(commit)];
  if (kind === 'redeploy' || kind === 'rollback') {
    const words = kind === 'redeploy' ? 'Redeploy' : 'Rollback';
    if (redeploy_of === null) return [words, ...byActor(cause, ' ')];
    return [kind === 'redeploy' ? 'Redeploy of ' : 'Rollback to ', { revisionId: redeploy_of }, ...byActor(cause, ' ')];
  }
  if (kind === 'create') {
    const end = isWithoutSource(entry) ? [', without a source yet'] : [];
    return ['Created', ...byActor(cause, ' '), ...end];
  }
  if (kind === 'patch') {
    const isUpload = changed_fields.includes(tarballPath);
    const isOnlyUpload = isUpload && changed_fields.every((field) => ofUpload.includes(field));
    const uploaded = isUpload ? uploadTime(entry.revision.created_at) : '';
    const what = isOnlyUpload ? 'Upload' : isUpload ? 'Upload and change' : 'Changed';
    return [`${what}${uploaded}`, ...byActor(cause, ' ')];
  }
  return ['Cause not recorded'];
}

const uploadedAt = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** ` of 27 Nov, 14:05`: uploads have no message to distinguish them by. */
const uploadTime = (at: string | undefined): string =>
  at === undefined || Number.isNaN(Date.parse(at)) ? '' : ` of ${uploadedAt.format(new Date(at))}`;

/** The commit of a revision that no push caused: `Fix greeting (a1b2c3d) by Ada`. */
export function commitParts({ sha, subject, author }: Commit): CausePart[] {
  const by: CausePart[] = author === null ? [] : [' by ', { text: author }];
  return subject === null
    ? ['Commit ', { text: sha.slice(0, 7) }, ...by]
    : [{ text: subject }, ' (', { text: sha.slice(0, 7) }, ')', ...by];
}

function pushed({ sha, subject, author }: Commit): CausePart[] {
  const by: CausePart[] = author === null ? [] : [' by ', { text: author }];
  const what: CausePart[] = subject === null ? [': commit '] : [': ', { text: subject }, ' ('];
  return [...by, ...what, { text: sha.slice(0, 7) }, ...(subject === null ? [] : [')'])];
}

function byActor({ actor, key_name }: HistoryEntry['cause'], space: string): CausePart[] {
  if (actor === 'key' && key_name !== null) return [`${space}with the API key `, { text: key_name }];
  if (actor === 'operator') return [`${space}by the operator of the service`];
  if (actor === 'service') return [`${space}by the service`];
  return [];
}
