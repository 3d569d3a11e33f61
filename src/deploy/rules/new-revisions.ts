import { sameCommit } from './commit.ts';
import type { RevisionSummary } from './trigger-types.ts';

/** Of revisions that are listed newest first, those newer than `former`; undefined where that is not listed. */
export function newerThan<Listed extends { id: string }>(
  former: string | null,
  listed: readonly Listed[],
): readonly Listed[] | undefined {
  if (former === null) return listed;
  const end = listed.findIndex(({ id }) => id === former);
  return end === -1 ? undefined : listed.slice(0, end);
}

/** Whether a revision of a commit was made: this one, or one that does not report its commit yet, or none. */
export type RevisionMatch = { kind: 'made'; revision: RevisionSummary } | { kind: 'may-be' } | { kind: 'none' };

/** Looks for a revision of a commit; one that still may serve comes before one that has ended. */
export function matchRevision(commit: string | undefined, made: readonly RevisionSummary[]): RevisionMatch {
  const ours = made.filter((each) => sameCommit(each.commit, commit));
  const revision = ours.find(({ phase }) => phase !== 'ended') ?? ours[0];
  if (revision) return { kind: 'made', revision };
  const mayBe = made.some((each) => each.commit === undefined && each.phase === 'on-its-way');
  return { kind: mayBe ? 'may-be' : 'none' };
}
