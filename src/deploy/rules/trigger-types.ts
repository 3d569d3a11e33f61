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
  /** Pushes wait until a person presses Redeploy, because this commit, if it is known, was rolled back. */
  held?: { commit?: string | undefined } | undefined;
}

/** What became of the paths between the commit that stands and the head. */
export type ChangedPaths = { kind: 'known'; paths: readonly string[] } | { kind: 'unavailable'; why: string };

/** Why a revision of the head is made. */
type BuildReason =
  | ({ commit: string; missed?: true; unread?: string } & (
      { code: 'not-live'; live?: string } | { code: 'live-unreported' } | { code: 'ended-before'; revisionId: string }
    ))
  | { code: 'rerun' | 'redeploy'; commit: string }
  | { code: 'rollback' | 'failure' }
  | { code: 'waited-too-long'; revisionId: string };

/** Why a wrong revision is not rolled back: it no longer serves, or soon will not. */
export type RollbackObstacle =
  | { code: 'other-serves'; active: string | null; broken: string | undefined }
  | { code: 'other-on-its-way'; revisionId: string };

/** Why a commit is not deployed. */
export type SkipReason =
  | { code: 'skip-word'; word: string }
  | { code: 'paths-untouched'; paths: number }
  | { code: 'rolled-back-before'; commit: string }
  /** An earlier request of the same commit ended so. */
  | { code: 'already-reported'; end: string }
  | { code: 'serves-already'; revisionId: string }
  | { code: 'branch-gone'; branch: string }
  /** The App was removed from the repository. */
  | { code: 'not-installed' }
  | RollbackObstacle;

/** A reason that was stored as one clause, before reasons had facts. */
interface StoredReason {
  code?: SkipReason['code'];
  why: string;
}

/** What is done about one commit on one deployment, and why; `decisionWords` says it. */
export type Decision =
  | ({ kind: 'trigger' } & (BuildReason | StoredReason))
  /** A revision of this commit is live or on its way: it is followed, none is made. */
  | ({ kind: 'adopt'; revisionId: string } & ({ code: 'live' | 'on-its-way'; commit: string } | StoredReason))
  /** Another revision is in progress, or one without a reported commit: observe again when that changes. */
  | ({ kind: 'wait'; revisionId: string } & (
      { code: 'on-its-way'; commit: string } | { code: 'unreported' } | StoredReason
    ))
  | ({ kind: 'hold' } & ({ code: 'rolled-back'; commit?: string | undefined } | StoredReason))
  | ({ kind: 'skip' } & (SkipReason | StoredReason));
