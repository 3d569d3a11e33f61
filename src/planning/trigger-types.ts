/** Where a deployment's smoke tests and rules for pushes come from: the file of the default branch, if it names it. */
export interface PushRules {
  /** Globs; absent: every path counts. */
  paths?: { include: readonly string[]; exclude: readonly string[] };
  /** Words in a commit's message that keep it from being deployed, for example `[skip deploy]`. */
  skipWords: readonly string[];
  /** What pushes do after a rollback: go on, or wait until a person presses Redeploy. */
  afterRollback: 'continue' | 'hold';
}

/** The properties of a revision that a decision needs. `commit` is undefined if the service does not report it (yet). */
export interface RevisionSeen {
  id: string;
  commit: string | undefined;
  standing: 'live' | 'on-its-way' | 'ended';
}

/** What stands at the service and with us when a push is decided. */
export interface Standing {
  live?: RevisionSeen | undefined;
  /** The newest revision, where it is another one than the live one. */
  latest?: RevisionSeen | undefined;
  /** The commit that was rolled back and is not tried again by itself. */
  rolledBackCommit?: string | undefined;
  /** Pushes wait until a person presses Redeploy. */
  held?: { since: number; why: string } | undefined;
}

/** What became of the paths between the commit that stands and the head. */
export type ChangedPaths = { kind: 'known'; paths: readonly string[] } | { kind: 'unavailable'; why: string };

/** Why a commit is not deployed. */
export type SkipCode =
  | 'skip-word'
  | 'paths-untouched'
  | 'rolled-back-before'
  | 'no-target'
  | 'tag'
  | 'not-a-branch'
  | 'deleted'
  | 'fork'
  | 'foreign-repository'
  | 'build-on-push-off'
  | 'branch-gone'
  /** The App was removed from the repository. */
  | 'not-installed'
  | 'already-reported';

/** What is done about one commit on one deployment, and why: `why` is one clause without a full stop, fit to show. */
export type Decision =
  | { kind: 'trigger'; why: string }
  /** A revision of this commit is live or on its way: it is followed, none is made. */
  | { kind: 'adopt'; revisionId: string; why: string }
  /** Another revision is in progress, or one without a reported commit: observe again when that changes. */
  | { kind: 'wait'; revisionId: string; why: string }
  | { kind: 'hold'; why: string }
  | { kind: 'skip'; code: SkipCode; why: string };

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
interface Push {
  /** Plain name of the branch. */
  branch: string;
  after: string;
  /** Undefined where the branch was made by this push. */
  before: string | undefined;
  forced: boolean;
  created: boolean;
}

/** A push that may be built, or why it is none. `why` is one clause without a full stop, fit to show. */
type PushRead = { kind: 'push'; push: Push } | { kind: 'none'; code: SkipCode; why: string };

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
