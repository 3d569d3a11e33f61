import type { SkipCode } from './trigger-types.ts';

/** What is read of GitHub's `push` payload; everything else in it is passed over. */
export interface PushPayload {
  /** `refs/heads/...` or `refs/tags/...` */
  ref: string;
  before: string;
  after: string;
  created?: boolean | undefined;
  deleted?: boolean | undefined;
  forced?: boolean | undefined;
  repository?: { fork?: boolean | undefined } | undefined;
}

/** A push to a branch as reported; the current head of the branch has to be read. */
export interface Push {
  /** Plain name of the branch. */
  branch: string;
  after: string;
  /** Undefined where the branch was made by this push. */
  before: string | undefined;
  forced: boolean;
  created: boolean;
}

/** A push that may be built, or why it is none. `why` is one clause without a full stop, fit to show. */
export type PushRead = { kind: 'push'; push: Push } | { kind: 'none'; code: SkipCode; why: string };

const branchPrefix = 'refs/heads/';

/** What stands in the place of a commit where there is none; as long as the repository's hashes are. */
const noCommit = /^0+$/;

/** Which pushes to build: those to a branch of a repository that is not a fork, unless they delete the branch. */
export function pushFrom(payload: PushPayload): PushRead {
  const { ref, before, after, created = false, deleted = false, forced = false, repository } = payload;
  if (ref.startsWith('refs/tags/')) return none('tag', 'it pushes a tag, and tags are not built on push');
  if (!ref.startsWith(branchPrefix) || ref === branchPrefix) return none('not-a-branch', 'it pushes no branch');
  if (deleted || noCommit.test(after)) return none('deleted', 'it deletes the branch, so there is nothing to build');
  if (repository?.fork) return none('fork', 'the repository is a fork, and branches of forks are not built');
  const made = created || noCommit.test(before);
  return {
    kind: 'push',
    push: { branch: ref.slice(branchPrefix.length), after, before: made ? undefined : before, forced, created: made },
  };
}

const none = (code: SkipCode, why: string): PushRead => ({ kind: 'none', code, why });
