import type { Coded } from '../../kit/coded.ts';
import type { AfterChecks } from '../file/push-fields.ts';
import type { CheckNames } from './after-checks.ts';
import type { FrozenFacts } from './environment-gate.ts';
import type { ObstacleFacts } from './plan-types.ts';

/** The rules for pushes of a deployment, from the deploy file of the default branch if that names it. */
export interface PushRules {
  /** Globs; absent: every path counts. */
  paths?: { include: readonly string[]; exclude: readonly string[] };
  /** Words in a commit's message that keep it from being deployed, for example `[skip ci]`. */
  skipWords: readonly string[];
  /** What pushes do after a rollback: go on, or wait until a person presses Redeploy. */
  afterRollback: 'continue' | 'hold';
  /** Checks that have to pass before a push is deployed. */
  deployAfter?: AfterChecks;
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

interface NotLive {
  commit: string;
  missed?: true;
  unread?: string;
}

/** Why a revision of the head is made. */
export interface BuildFacts
  extends Record<'rerun' | 'redeploy', { commit: string }>, Record<'rollback' | 'failure', unknown> {
  'not-live': NotLive & { live?: string };
  'live-unreported': NotLive;
  'ended-before': NotLive & { revisionId: string };
  'waited-too-long': { revisionId: string };
  /** `from`: the deployment of the environment before. */
  promotion: { commit: string; from: string };
}

/** Why the environment before has nothing to promote. */
export type EarlierObstacleCode = 'earlier-missing' | 'earlier-not-live' | 'earlier-other-commit' | 'earlier-unproven';

/** Why a commit is not deployed. */
export interface SkipFacts extends Pick<ObstacleFacts, EarlierObstacleCode> {
  'skip-word': { word: string };
  'paths-untouched': { paths: number };
  'rolled-back-before': { commit: string };
  'checks-failed': { failed: CheckNames };
  /** They have not passed in time. `isUnread`: commit statuses could not be read. */
  'checks-late': { pending: CheckNames; isUnread?: true };
  /** It is to be deployed after its required checks, and none is required. */
  'no-checks': unknown;
  /** The deploy file has a mistake and speaks of freeze windows or holds, so that it is unknown which there are. */
  'gate-unread': unknown;
  /** The branch may not be deployed to the GitHub environment. */
  'branch-not-allowed': { environment: string; branch: string };
  /** Rules of the GitHub environment that the App can't decide. */
  'protection-unknown': { environment: string; rules: readonly string[] };
  /** An earlier request of the same commit ended so. */
  'already-reported': { end: string };
  'serves-already': { revisionId: string };
  'branch-gone': { branch: string };
  /** A person confirmed this commit, and another one is the head by now. */
  'pushed-since': { commit: string; head: string };
  /** A person's command ended it before anything was sent. */
  cancelled: { by: string };
  /** The App was removed from the repository. */
  'not-installed': unknown;
  /** The deploy file holds the environment: a person sends it. */
  'environment-holds': unknown;
  'other-serves': { active: string | null; broken: string | undefined };
  'other-on-its-way': { revisionId: string };
  /** The deployment of the environment before serves another revision by now than the one that was to be promoted. */
  'earlier-moved': { name: string; serves: string };
  /** A commit that was proven later has been promoted since. */
  'newer-promoted': { commit: string };
  /** The service builds the head of the branch only, and another commit is the head. */
  'promoted-not-head': { commit: string; head: string | undefined };
}
export type SkipReason = Coded<SkipFacts>;

/** Why a wrong revision is not rolled back: it no longer serves, or soon will not. */
export type RollbackObstacle = Coded<SkipFacts, 'other-serves' | 'other-on-its-way'>;

/** A reason that was stored as one clause, before reasons had facts. */
interface StoredReason {
  code?: SkipReason['code'];
  why: string;
}

/** What a commit waits for before it is sent. */
export interface AwaitFacts {
  /** Checks of the commit have not passed yet. */
  checks: { pending: CheckNames };
  /** Its environment is frozen. */
  frozen: FrozenFacts;
  /** The deployment of the environment before is changing: what it serves is known then. */
  earlier: { name: string };
  /** GitHub requires the approval of one of these, and waits so long after the request (ms since the epoch). */
  reviewers: CheckNames & { environment: string };
  'wait-timer': { environment: string; until: number };
}
export type AwaitDecision<Code extends keyof AwaitFacts = keyof AwaitFacts> = { kind: 'await' } & Coded<
  AwaitFacts,
  Code
>;

/** What is done about one commit on one deployment, and why; `decisionWords` says it. */
export type Decision = TriggerDecision | AwaitDecision;

/** What the state of the deployment and the rules of the file decide, before what it has to wait for is looked at. */
export type TriggerDecision =
  | ({ kind: 'trigger' } & (Coded<BuildFacts> | StoredReason))
  /** A revision of this commit is live or on its way: it is followed, none is made. */
  | ({ kind: 'adopt'; revisionId: string } & ({ code: 'live' | 'on-its-way'; commit: string } | StoredReason))
  /** Another revision is in progress, or one without a reported commit: observe again when that changes. */
  | ({ kind: 'wait'; revisionId: string } & (
      { code: 'on-its-way'; commit: string } | { code: 'unreported' } | StoredReason
    ))
  | ({ kind: 'hold' } & ({ code: 'rolled-back'; commit?: string | undefined; stops?: 'promotions' } | StoredReason))
  | ({ kind: 'skip' } & (SkipReason | StoredReason));
