import type { Commit, HistoryEntry } from '../../../contract/control/revision-history.ts';
import { shortCommit } from '../../../contract/control/repo-ref.ts';
import { classOfRevisionStatus } from '../../../contract/control/revision-status.ts';

/** A part of a sentence: our own text, untrusted text, or a link to a revision. */
export type CausePart = string | { text: string } | { revisionId: string };

/** Whether a revision was created with its deployment before the first upload, so that it has nothing to build. */
export const isWithoutSource = ({ cause, revision }: Pick<HistoryEntry, 'cause' | 'revision'>): boolean =>
  cause.kind === 'create' &&
  revision.source === 'internal_source' &&
  !revision.source_revision_config.source_tarball_path;

/** Whether a revision serves or has served, so that a rollback to it makes sense. */
export const hasServed = ({ is_live, revision, statuses }: HistoryEntry): boolean =>
  is_live || [revision, ...statuses].some(({ status }) => classOfRevisionStatus(status) === 'live');

const tarballPath = 'source_revision_config.source_tarball_path';
/** The fields that an upload may change. */
const uploadFields: readonly string[] = [tarballPath, 'source_revision_config.graph_config_path'];

/** The name of a changed field for people. */
export const changedFieldText = (field: string): string => (field === tarballPath ? 'source' : field);

/** The cause of a revision as a headline, and further details. */
export interface Cause {
  headline: CausePart[];
  details: CausePart[];
}

/** Describes the cause of a revision: `Push by Ada: Fix greeting (a1b2c3d)`, `Uploaded 28 Nov, 16:27 · key “ci”`. */
export function causeOf(entry: HistoryEntry): Cause {
  const { cause, commit } = entry;
  const by = byActor(cause);
  const commitText = commit === null ? [] : commitParts(commit);
  if (cause.kind === 'push') return { headline: ['Push', ...(commit === null ? [] : pushParts(commit))], details: [] };
  if (cause.kind === 'create' && commit !== null) return { headline: commitText, details: ['First deploy', ...by] };
  return { headline: [...changeParts(entry), ...by], details: commitText };
}

function changeParts(entry: HistoryEntry): CausePart[] {
  const { kind, redeploy_of } = entry.cause;
  if (kind === 'create') return [isWithoutSource(entry) ? 'Created, waiting for the first upload' : 'First deploy'];
  if (kind === 'redeploy') return redeploy_of === null ? ['Redeploy'] : ['Redeploy of ', { revisionId: redeploy_of }];
  if (kind === 'rollback') return redeploy_of === null ? ['Rollback'] : ['Rollback to ', { revisionId: redeploy_of }];
  if (kind !== 'patch') return ['Cause not recorded'];
  if (!entry.changed_fields.includes(tarballPath)) return ['Changed'];
  const isOnlyUpload = entry.changed_fields.every((field) => uploadFields.includes(field));
  return [`Uploaded${uploadTime(entry.revision.created_at)}${isOnlyUpload ? '' : ', with changes'}`];
}

const uploadedAt = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** ` 27 Nov, 14:05`, because uploads have no message that distinguishes them. */
const uploadTime = (at: string | undefined): string =>
  at === undefined || Number.isNaN(Date.parse(at)) ? '' : ` ${uploadedAt.format(new Date(at))}`;

/** A commit: `Fix greeting (a1b2c3d) by Ada`. */
export function commitParts({ sha, subject, author }: Commit): CausePart[] {
  const authorParts: CausePart[] = author === null ? [] : [' by ', { text: author }];
  return subject === null
    ? ['Commit ', { text: shortCommit(sha) }, ...authorParts]
    : [{ text: subject }, ' (', { text: shortCommit(sha) }, ')', ...authorParts];
}

function pushParts({ sha, subject, author }: Commit): CausePart[] {
  const authorParts: CausePart[] = author === null ? [] : [' by ', { text: author }];
  const subjectParts: CausePart[] = subject === null ? [': commit '] : [': ', { text: subject }, ' ('];
  return [...authorParts, ...subjectParts, { text: shortCommit(sha) }, ...(subject === null ? [] : [')'])];
}

/** ` · key “ci”` */
function byActor({ actor, key_name }: HistoryEntry['cause']): CausePart[] {
  if (actor === 'key' && key_name !== null) return [' · key “', { text: key_name }, '”'];
  if (actor === 'operator') return [' · by the operator'];
  return actor === 'service' ? [' · by the service'] : [];
}
