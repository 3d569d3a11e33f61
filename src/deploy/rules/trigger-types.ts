/** The rules for pushes of a deployment, from the deploy file of the default branch if that names it. */
export interface PushRules {
  /** Globs; absent: every path counts. */
  paths?: { include: readonly string[]; exclude: readonly string[] };
  /** Words in a commit's message that keep it from being deployed, for example `[skip ci]`. */
  skipWords: readonly string[];
  /** What pushes do after a rollback: go on, or wait until a person presses Redeploy. */
  afterRollback: 'continue' | 'hold';
}

/** The properties of a revision that a decision needs. `commit` is undefined if the service does not report it (yet). */
export interface RevisionSummary {
  id: string;
  commit: string | undefined;
  phase: 'live' | 'on-its-way' | 'ended';
}

/** The revisions of a deployment at the service, and what the App has noted, when a push is decided. */
export interface DeploymentState {
  live?: RevisionSummary | undefined;
  /** The newest revision, where it is another one than the live one. */
  latest?: RevisionSummary | undefined;
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
