import type { Commit, HistoryEntry } from '../../../contract/control/revision-history.ts';

/** A part of a sentence: our words, text that others wrote, or a revision. */
export type CausePart = string | { text: string } | { revisionId: string };

/** What caused a revision, in words: `Push by Ada: Fix greeting (a1b2c3d)`. */
export function causeParts({ cause, commit }: Pick<HistoryEntry, 'cause' | 'commit'>): CausePart[] {
  const { kind, redeploy_of } = cause;
  if (kind === 'push') return commit === null ? ['Push'] : ['Push', ...pushed(commit)];
  if (kind === 'redeploy' || kind === 'rollback') {
    const words = kind === 'redeploy' ? 'Redeploy' : 'Rollback';
    if (redeploy_of === null) return [words, ...byActor(cause, ' ')];
    return [kind === 'redeploy' ? 'Redeploy of ' : 'Rollback to ', { revisionId: redeploy_of }, ...byActor(cause, ' ')];
  }
  if (kind === 'create') return ['Created', ...byActor(cause, ' ')];
  if (kind === 'patch') return ['Changed', ...byActor(cause, ' ')];
  return ['Cause not recorded'];
}

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
