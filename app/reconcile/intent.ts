import type { HoldDecision } from '../../src/contract/control/revision.ts';
import type { Outcome } from '../../src/deploy/machine/outcome-types.ts';
import type { OwnRevision, TestAnswers, TestResult } from '../../src/deploy/machine/state.ts';
import { decisionOf } from '../../src/deploy/rules/hold-state.ts';
import type { Note } from '../../src/deploy/rules/note.ts';
import type { Rollout } from '../../src/deploy/rules/rollout-types.ts';
import type { Decision } from '../../src/deploy/rules/trigger-types.ts';
import type { DeployRequest } from './deploy-request.ts';

export const intentOutcomeKinds = [
  'deployed',
  'unproven',
  'broken',
  'rolled-back',
  /** Before it got traffic. */
  'discarded',
  'failed',
  'superseded',
  'interrupted',
  'timed-out',
  'refused',
  /** It is unknown whether a request took effect: never sent again. */
  'unknown',
  'skipped',
  /** Another intent of the same commit is reported in the same check. */
  'joined',
  /** The hosted service made no revision of this commit in time. */
  'absent',
  /** The branch moved on: what was built is another commit. */
  'other-commit',
] as const;
export type IntentOutcomeKind = (typeof intentOutcomeKinds)[number];

/** The outcome of an intent. Texts may come from third parties; they are escaped when rendered. */
export interface IntentOutcome extends Pick<Outcome, 'reason' | 'advice' | 'logs'> {
  kind: IntentOutcomeKind;
  at: number;
  /** The commit deployed instead; `contains` is undefined if it is unknown whether it contains this one. */
  by?: { commit: string; contains: boolean | undefined };
  /** Set on a superseded or other commit once the one that contains it is live and proven. */
  liveIn?: string;
  /** The revision that serves again. */
  rolledBackTo?: string;
}

/** State of a running smoke test, from which another process can resume. Opaque to all but the smoke test runner. */
export type SmokeState = Readonly<Record<string, unknown>>;

/** What the live revision answered before the change that replaces it, for the tests that compare with it. */
export interface LiveAnswers {
  revisionId: string;
  /** Where it answers. */
  address: string;
  /** When measuring ends, whatever is missing (ms since the epoch). */
  until: number;
  /** How often measuring began: again where another revision serves. */
  rounds: number;
  /** What to say of them if they are compared; fit to show. */
  notes: readonly (Note | string)[];
  /** `isOpen`: more are to be measured. `measuredAt`: some were measured then (ms since the epoch), and not kept before. */
  answers: readonly (TestAnswers & { isOpen?: true; measuredAt?: number })[];
}

/** A revision that waits for a decision before it gets traffic. */
export interface HeldRevision {
  /** Where it answers. */
  address: string;
  /** Where the live revision answers, if something is compared with it. */
  live?: string;
  /** When the service discards it by itself. */
  endsAt: string;
  /** Stored before it is sent. */
  decision?: HoldDecision;
}

/** The service's revisions before anything was sent; null: there was none, absent: not known. */
export interface Former {
  latest?: string | null;
  live?: string | null;
}

/** How a revision came about: by our request; of the same commit and there already; or by the service without a request. */
type Origin = 'triggered' | 'adopted' | 'found';

/** The revision of an intent, whose deployment is in the header. */
export interface Bound extends Omit<OwnRevision<Origin>, 'deploymentId'> {
  former: Former;
  rollout: Rollout;
  agentUrl?: string;
  /** The page of the revision in the service's console. */
  consolePage?: string;
}

/** The decision that nothing is sent. */
export type SkipDecision = Extract<Decision, { kind: 'skip' }>;

/** Whether a proven revision was requested of a deployment of the next environment, or why not. */
export type PromotedTo = { deployment: string } & (
  | { code: 'requested' }
  /** A person has to promote it. */
  | { code: 'held' }
  /** `why` is a clause without a full stop, fit to show. */
  | { code: 'refused'; why: string }
);

/** What an intent has in every state. */
export interface IntentHeader extends DeployRequest {
  id: string;
  /** Grows with the order in which intents were recorded. */
  seq: number;
  /** Who let it pass the protection of its GitHub environment; `team`: as a member of that team. */
  approvals?: readonly { by: string; team?: string; at: number }[];
  /**
   * When it had waited for checks, for its environment, or for another revision; once it has ended, for a service that
   * failed in passing, before what follows from it was requested (ms since the epoch).
   */
  waitedUntil?: number;
  /** The revision of another client that it has waited for as long as it may. */
  overdueFor?: string;
  /** What was decided last. */
  decision?: Decision;
  /** When sending was stored last (ms since the epoch), and how often the request may have taken effect. */
  sentAt?: number;
  sends?: number;
  /** What follows from its revision in the next environment, once that was decided. */
  promoted?: readonly PromotedTo[];
  createdAt: number;
  updatedAt: number;
}

/** What is kept until the request is sent. */
interface Unsent {
  /** What was measured of the live revision. Of no use once another one serves. */
  live?: LiveAnswers;
  /** Its revision is not held, whatever the service offers by now: the live one is measured before. */
  unheld?: true;
}

interface Sent {
  former: Former;
  sentAt: number;
  sends: number;
  deadline: number;
  /** The hold that is requested of its revision. */
  holdSeconds?: number;
  /** The service is told to build this commit, whatever the head of the branch is by then. */
  pinsCommit?: true;
  /** The service is told to deploy the build that was proven. */
  copiesBuild?: true;
  /** The service took the request, and its response named no new revision. */
  isAccepted?: true;
}

interface Tested extends Bound, TestResult {
  smoke?: SmokeState;
}

/** The states, each with exactly its fields. Times are ms since the epoch. */
interface States {
  /** Recorded, or to be decided again. */
  requested: Unsent;
  /** Waits until the deployment is free, or until a deadline for another client's revision, which the decision names. */
  waiting: Unsent & { deadline?: number };
  /** Waits for a person's Redeploy. */
  paused: Unsent;
  /** Decided, and not sent: the live revision is sent the smoke tests that compare with it. */
  measuring: Unsent & { live: LiveAnswers; smoke?: SmokeState };
  /** The hosted service is to make the revision. */
  expecting: Unsent & { former: Former; deadline: number };
  /** The intent to send is stored; until the deadline it is not known whether the request took effect. */
  sending: Unsent & Sent;
  /** The revision is in progress: to be tested, or with the proof that it is promoted or discarded for. */
  following: Bound & Partial<TestResult> & { deadline: number; live?: LiveAnswers };
  /** The revision is tested: while it is held before traffic, or live. */
  testing: Bound & { hold?: HeldRevision; live?: LiveAnswers; smoke?: SmokeState };
  /** The revision was tested while it was held, and is promoted or discarded. */
  deciding: Tested & { hold: HeldRevision };
  /** The revision is live, and was tested. */
  concluding: Tested;
  /** The live revision failed its tests, and its rollback is requested, after which the verdict is reported. */
  undoing: Tested & { verdictDueAt?: number };
  /** What is known of a revision, of the hold or of measuring, wherever it ended. */
  ended: Partial<Tested> & { end: IntentOutcome; hold?: HeldRevision; live?: LiveAnswers };
}

export type IntentState = keyof States;
/** An intent in one of these states. */
export type IntentIn<State extends IntentState> = {
  [Each in State]: IntentHeader & { state: Each } & States[Each];
}[State];
/** This commit on this deployment, for this cause. The id is the idempotency key of what is sent for it. */
export type Intent = IntentIn<IntentState>;

export type Measuring = IntentIn<'measuring'>;
export type Sending = IntentIn<'sending'>;
export type Following = IntentIn<'following'>;
export type Testing = IntentIn<'testing'>;
export type Deciding = IntentIn<'deciding'>;
export type Concluding = IntentIn<'concluding'>;
export type Ended = IntentIn<'ended'>;

/** Not decided yet. */
export type Undecided = IntentIn<'requested' | 'waiting'>;
/** Nothing was sent, or nothing that took effect. */
export type UnsentIntent = IntentIn<'requested' | 'waiting' | 'paused' | 'measuring' | 'expecting'>;

type KeyIn<T> = T extends unknown ? keyof T : never;
type ValueIn<T, Key> = T extends unknown ? (Key extends keyof T ? T[Key] : never) : never;
/** The fields of a state. */
export type OwnField<State extends IntentState> = KeyIn<States[State]>;

/** What may be known of an intent, whatever its state. */
export type IntentFields = IntentHeader & { state: IntentState } & {
  [Key in Exclude<OwnField<IntentState>, keyof IntentHeader>]?: Exclude<ValueIn<Intent, Key>, undefined>;
};

/** Whether conversations of the live revision are tried on the intent's revision: only on one that is held. */
export const triesConversations = ({ terms, hold, former }: IntentFields): boolean =>
  terms.conversations !== undefined && hold !== undefined && !!former?.live;

/** What the verdict on the held revision of an intent decides about it. */
export const decisionOn = (
  verdict: TestResult['verdict'],
  { terms: { onUnproven }, former }: Deciding | Following,
): HoldDecision => decisionOf(verdict, { isReplacing: !!former.live, onUnproven });

/** Whether a request waits for the approval of a reviewer of its GitHub environment. */
export const awaitsApproval = ({ state, decision }: { state: IntentState; decision?: Decision | undefined }): boolean =>
  state === 'waiting' && decision?.kind === 'await' && decision.code === 'reviewers';

/** Makes an intent of a deploy request: nothing is decided yet. */
export const newIntent = (
  request: DeployRequest,
  { id, seq, now }: { id: string; seq: number; now: number },
): IntentIn<'requested'> => ({
  ...request,
  id,
  seq,
  state: 'requested',
  createdAt: now,
  updatedAt: now,
});
