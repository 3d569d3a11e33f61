import type { Intent, DeployRequest } from './intent.ts';

/** A wish that follows from another intent: for the same deployment and branch, on the same terms. */
export const requestLike = (
  { deploymentId, repository, branch, terms }: Intent,
  requested: Pick<DeployRequest, 'commit' | 'sending' | 'cause'>,
): DeployRequest => ({ deploymentId, repository, branch, terms, ...requested });

/** The head of a branch, wished for because of what became of another intent; once for a key. */
export const requestForHead = (intent: Intent, commit: string, key: string, at: number): DeployRequest => {
  const { branch, sending } = intent;
  return requestLike(intent, {
    commit,
    sending: sending.kind === 'restate' ? sending : { kind: 'restate', repoRef: branch },
    cause: { kind: 'push', key, at },
  });
};

/** The head, because a revision that was asked for before it was built from another commit, or taken back. */
export const requestAfter = (intent: Intent, commit: string, at: number): DeployRequest =>
  requestForHead(intent, commit, `after-${intent.id}`, at);
