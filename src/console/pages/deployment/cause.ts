import type { Commit, HistoryEntry } from '../../../contract/control/revision-history.ts';
import { shortCommit } from '../../../contract/control/repo-ref.ts';
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

/** What a revision is, in a headline, and what else is known of its cause. */
export interface Cause {
  headline: CausePart[];
  details: CausePart[];
}

/** What caused a revision, in words: `Push by Ada: Fix greeting (a1b2c3d)`, `Uploaded 28 Nov, 16:27 · key “ci”`. */
export function causeOf(entry: HistoryEntry): Cause {
  const { cause, commit } = entry;
  const by = byActor(cause);
  const of = commit === null ? [] : commitParts(commit);
  if (cause.kind === 'push') return { headline: ['Push', ...(commit === null ? [] : pushed(commit))], details: [] };
  if (cause.kind === 'create' && commit !== null) return { headline: of, details: ['First deploy', ...by] };
  return { headline: [...changeParts(entry), ...by], details: of };
}

function changeParts(entry: HistoryEntry): CausePart[] {
  const { kind, redeploy_of } = entry.cause;
  if (kind === 'create') return [isWithoutSource(entry) ? 'Created, waiting for the first upload' : 'First deploy'];
  if (kind === 'redeploy') return redeploy_of === null ? ['Redeploy'] : ['Redeploy of ', { revisionId: redeploy_of }];
  if (kind === 'rollback') return redeploy_of === null ? ['Rollback'] : ['Rollback to ', { revisionId: redeploy_of }];
  if (kind !== 'patch') return ['Cause not recorded'];
  if (!entry.changed_fields.includes(tarballPath)) return ['Changed'];
  const isOnlyUpload = entry.changed_fields.every((field) => ofUpload.includes(field));
  return [`Uploaded${uploadTime(entry.revision.created_at)}${isOnlyUpload ? '' : ', with changes'}`];
}

const uploadedAt = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** ` 27 Nov, 14:05`: uploads have no message to distinguish them by. */
const uploadTime = (at: string | undefined): string =>
  at === undefined || Number.isNaN(Date.parse(at)) ? '' : ` ${uploadedAt.format(new Date(at))}`;

/** A commit: `Fix greeting (a1b2c3d) by Ada`. */
export function commitParts({ sha, subject, author }: Commit): CausePart[] {
  const by: CausePart[] = author === null ? [] : [' by ', { text: author }];
  return subject === null
    ? ['Commit ', { text: shortCommit(sha) }, ...by]
    : [{ text: subject }, ' (', { text: shortCommit(sha) }, ')', ...by];
}

function pushed({ sha, subject, author }: Commit): CausePart[] {
  const by: CausePart[] = author === null ? [] : [' by ', { text: author }];
  const what: CausePart[] = subject === null ? [': commit '] : [': ', { text: subject }, ' ('];
  return [...by, ...what, { text: shortCommit(sha) }, ...(subject === null ? [] : [')'])];
}

/** ` · key “ci”` */
function byActor({ actor, key_name }: HistoryEntry['cause']): CausePart[] {
  if (actor === 'key' && key_name !== null) return [' · key “', { text: key_name }, '”'];
  if (actor === 'operator') return [' · by the operator'];
  return actor === 'service' ? [' · by the service'] : [];
}
