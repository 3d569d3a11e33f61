import type { Intent, DeployRequest } from './intent.ts';

/** A request that follows from another intent: for the same deployment and branch, on the same terms. */
export const requestLike = (
  { deploymentId, repository, branch, terms }: Intent,
  requested: Pick<DeployRequest, 'commit' | 'sending' | 'cause'>,
): DeployRequest => ({ deploymentId, repository, branch, terms, ...requested });

/** A request for the head of a branch because of another intent's outcome; once per key. */
export const requestForHead = (intent: Intent, commit: string, key: string, at: number): DeployRequest => {
  const { branch, sending } = intent;
  return requestLike(intent, {
    commit,
    sending: sending.kind === 'restate' ? sending : { kind: 'restate', repoRef: branch },
    cause: { kind: 'push', key, at },
  });
};

/** A request for the head, because an earlier revision was built from another commit, or rolled back. */
export const requestAfter = (intent: Intent, commit: string, at: number): DeployRequest =>
  requestForHead(intent, commit, `after-${intent.id}`, at);
