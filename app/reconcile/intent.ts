import type { Decision, PushRules } from '../../src/deploy/rules/trigger-types.ts';
import type { Rollout } from '../../src/deploy/rules/rollout-types.ts';
import type { HeldTerms } from '../../src/deploy/rules/hold-state.ts';
import type { Note } from '../../src/deploy/rules/note.ts';
import type { Sample, Verdict } from '../../src/deploy/rules/verdict-types.ts';
import type { OnFailure, OnUnproven, Verify } from '../../src/deploy/file/desired.ts';
import type { ConversationTerms } from '../../src/deploy/file/conversations.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { HoldDecision } from '../../src/contract/control/revision.ts';
import type { LogEntry } from '../../src/contract/control/log.ts';
import type { InstallationRepository } from '../github/github-api.ts';

/** Why this commit is requested on this deployment. One cause makes at most one revision. */
export interface Cause {
  /** `failure` is our own rollback after a failed smoke test. */
  kind: 'push' | 'rerun' | 'redeploy' | 'rollback' | 'recovery' | 'failure';
  /** What makes the cause one: the delivery's GUID; for our own causes a text made from what they are about. */
  key: string;
  /** Login of the person who requested the action. */
  by?: string;
  /** When it was received (ms since the epoch). */
  at: number;
  /** How late we were (ms), where a push was found by looking and not by its delivery. */
  lateMs?: number;
}

/** What is sent to the service: the ref again, so that its head is built, or an old revision's build once more. */
export type ServiceRequest = { kind: 'restate'; repoRef: string } | { kind: 'redeploy'; revisionId: string };

/** The deploy file's rules for this commit, stored with the request, so that later jobs need no file. */
export interface Terms {
  deploymentName: string;
  /** Who makes the revision of a push: the App, or the hosted service by itself. */
  builder: 'app' | 'service';
  rules: PushRules;
  smokeTests: readonly SmokeTest[];
  /** Conversations of the live revision that are tried on a held one; absent: none. */
  conversations?: ConversationTerms;
  /** The deploy file's entry could not be read: the absence of smoke tests proves nothing. */
  unread?: true;
  /** Absent: before traffic where the service can hold the revision. */
  verify?: Verify;
  onFailure: OnFailure;
  /** Absent: the live revision is kept. */
  onUnproven?: OnUnproven;
  /** `shared`: another deployment of the file names the same one. */
  environment: { name: string; production: boolean; transient: boolean; shared?: boolean };
  /** Fields in which the file and the deployment differ, and how to apply them; fit to show. */
  differences: readonly { field: string; from: string | undefined; to: string | undefined }[];
  /** How long a revision is waited for (ms). */
  timeoutMs: number;
  /** Problems of the file that did not keep us from acting, fit to show, and notes on what was done. */
  notes: readonly (Note | string)[];
}

/**
 * - `requested`: recorded, not decided yet
 * - `waiting`: will be sent when the deployment is free; of those waiting only the newest is
 * - `held`: waits for a person's Redeploy
 * - `measuring`: decided, and not sent: the live revision is sent the smoke tests that compare with it (`live`)
 * - `sending`: the intent to send is stored; whether the request took effect is not known until `following`
 * - `expecting`: the hosted service is to make the revision
 * - `following`, `smoking`: the revision is known, and is in progress, or being tested: live, or held before traffic (`hold`)
 * - `ended`: `end` says how
 */
export type IntentState =
  'requested' | 'waiting' | 'held' | 'measuring' | 'sending' | 'expecting' | 'following' | 'smoking' | 'ended';

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
export interface IntentOutcome {
  kind: IntentOutcomeKind;
  /** One sentence. */
  reason: string;
  advice?: string;
  at: number;
  /** The commit deployed instead; `contains` is undefined if it is unknown whether it contains this one. */
  by?: { commit: string; contains: boolean | undefined };
  /** Set on a superseded or other commit once the one that contains it is live and proven. */
  liveIn?: string;
  logs?: readonly LogEntry[];
  /** The intent that rolled back, or the revision that it restored. */
  rolledBackTo?: string;
}

/** State of a running smoke test, from which another process can resume. Opaque to all but the smoke test runner. */
export type SmokeState = Readonly<Record<string, unknown>>;

/** What a revision answered to a test, by the test's name. */
export interface TestAnswers {
  test: string;
  samples: readonly Sample[];
}

/** What the live revision answered before the change that replaces it, for the tests that compare with it. */
export interface LiveAnswers {
  revisionId: string;
  /** Where it answers. */
  address: string;
  /** When measuring ends, whatever is missing (ms since the epoch). */
  until: number;
  /** How often it was begun for this intent: again where another revision serves. */
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
  /** Stored before it is sent. Whether it took effect is known once the hold is removed from the intent. */
  decision?: HoldDecision;
}

/** This commit on this deployment, for this cause. The id is the idempotency key of what is sent for it. */
export interface Intent {
  id: string;
  /** Grows with the order in which intents were recorded. */
  seq: number;
  deploymentId: string;
  repository: InstallationRepository;
  /** Plain name of the branch. */
  branch: string;
  commit: string;
  cause: Cause;
  terms: Terms;
  state: IntentState;
  sending: ServiceRequest;
  decision?: Decision;
  /** The service's latest and live revisions before anything was sent. */
  formerLatestRevisionId?: string | null;
  formerLiveRevisionId?: string | null;
  /** When sending was stored (ms since the epoch), and how often the request was sent. */
  sentAt?: number;
  sends?: number;
  /** The service took the request, and its response named no new revision. */
  isAccepted?: true;
  /** The deadline for resolving an unknown outcome, following or expecting (ms since the epoch). */
  deadline?: number;
  /** The hold that was requested of its revision: then this App decides about it. */
  holdSeconds?: number;
  /** Its revision is not held, whatever the service offers by now: the live one is measured before. */
  unheld?: true;
  /** While or after the live revision is measured. Of no use once another one serves. */
  live?: LiveAnswers;
  revisionId?: string;
  how?: 'triggered' | 'adopted' | 'found';
  builtCommit?: string;
  rollout?: Rollout;
  /** While the revision is held and not decided about. */
  hold?: HeldRevision;
  smoke?: SmokeState;
  verdict?: Verdict;
  /** What its revision answered to the tests that compare it, until they are kept as its baselines. */
  compared?: readonly TestAnswers[];
  /** Set where the verdict was found before the revision got traffic. */
  verified?: 'before-traffic';
  /** When the verdict is to be reported to the service (ms since the epoch): once the rollback is requested. */
  verdictDueAt?: number;
  /** The agent's URL. */
  agentUrl?: string;
  /** The page of its revision in the service's console. */
  consolePage?: string;
  end?: IntentOutcome;
  createdAt: number;
  updatedAt: number;
}

/** Whether conversations of the live revision are tried on the intent's revision: only on one that is held. */
export const triesConversations = ({ terms, hold, formerLiveRevisionId }: Intent): boolean =>
  terms.conversations !== undefined && hold !== undefined && !!formerLiveRevisionId;

/** Whom the held revision of an intent would take the traffic from. */
export const heldTermsOf = ({ terms, formerLiveRevisionId }: Intent): HeldTerms => ({
  isReplacing: !!formerLiveRevisionId,
  onUnproven: terms.onUnproven,
});

/** The fields of an intent that are recorded with the deploy request. */
export type DeployRequest = Pick<
  Intent,
  'deploymentId' | 'repository' | 'branch' | 'commit' | 'cause' | 'terms' | 'sending'
>;

/** Makes an intent of a deploy request: nothing is decided yet. */
export const newIntent = (
  request: DeployRequest,
  { id, seq, now }: { id: string; seq: number; now: number },
): Intent => ({
  ...request,
  id,
  seq,
  state: 'requested',
  createdAt: now,
  updatedAt: now,
});

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
