import type { Intent, Wish } from './intent.ts';

/** A wish that follows from another intent: for the same deployment and branch, on the same terms. */
export const wishLike = (
  { deploymentId, repository, branch, terms }: Intent,
  asked: Pick<Wish, 'commit' | 'sending' | 'cause'>,
): Wish => ({ deploymentId, repository, branch, terms, ...asked });

/** The head of a branch, wished for because of what became of another intent; once for a key. */
export const wishForHead = (intent: Intent, commit: string, key: string, at: number): Wish => {
  const { branch, sending } = intent;
  return wishLike(intent, {
    commit,
    sending: sending.kind === 'restate' ? sending : { kind: 'restate', repoRef: branch },
    cause: { kind: 'push', key, at },
  });
};

/** The head, because a revision that was asked for before it was built from another commit, or taken back. */
export const wishAfter = (intent: Intent, commit: string, at: number): Wish =>
  wishForHead(intent, commit, `after-${intent.id}`, at);
