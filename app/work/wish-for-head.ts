import type { Intent, Wish } from './intent.ts';

/** The head of a branch, wished for because of what became of another intent: on its terms, and once for a key. */
export const wishForHead = (
  { deploymentId, repository, branch, terms, sending }: Intent,
  commit: string,
  key: string,
  at: number,
): Wish => ({
  deploymentId,
  repository,
  branch,
  commit,
  terms,
  sending: sending.kind === 'restate' ? sending : { kind: 'restate', repoRef: branch },
  cause: { kind: 'push', key, at },
});

/** The head, because a revision that was asked for before it was built from another commit, or taken back. */
export const wishAfter = (intent: Intent, commit: string, at: number): Wish =>
  wishForHead(intent, commit, `after-${intent.id}`, at);
