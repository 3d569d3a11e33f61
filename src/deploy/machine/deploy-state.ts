import type { FrozenFacts } from '../rules/environment-gate.ts';
import type { IdleAfter } from '../../contract/control/deployment.ts';
import type { HoldDecision } from '../../contract/control/revision.ts';
import type { ServiceError } from '../../contract/service-error.ts';
import type { ConversationCourse } from '../rules/conversation-course.ts';
import type { SoughtChange } from '../rules/find-made.ts';
import type { StartKind } from './deploy-event.ts';
import type { OwnRevision, TestResult } from './state.ts';
import type { Change } from './steps/send-change.ts';

/** The revision of a run. */
export type RunRevision = OwnRevision<StartKind>;

/** A change that is ready to be sent. */
export interface Prepared {
  how: 'created' | 'patched';
  change: Change;
  /** The newest revision before it; null for a creation. */
  former: string | null;
  /** How its effect shows where no response names it. */
  sought: SoughtChange;
  /** Its revision may be held for its tests. */
  mayHold: boolean;
  /** The hold that is requested (s). */
  holdSeconds?: number | undefined;
  /** The commit that the service is told to build, instead of the head of the ref. */
  commit?: string | undefined;
  /** The revision of another deployment whose build is deployed. */
  buildOf?: string | undefined;
  /** When the agent is scaled to zero. */
  idleAfter?: IdleAfter | undefined;
  /** The folder that follows a creation, by its digest: the revision of the creation waits for it. */
  folder?: { digest: string } | undefined;
  /** Its secrets are not kept: it can't be sent again as it was. */
  isWithoutSecrets?: true;
  /** What is followed where the change makes no revision of its own. */
  adopt?: string | undefined;
}

/** The states of a deploy or a rollback, each with its own fields. */
interface States {
  /** Nothing was sent. It is planned again where another client was faster: `overtaken`. */
  requested: { tries: number; overtaken?: ServiceError };
  /** A deployment was created, and its first revision, `waiting`, waits for the folder. */
  filling: {
    tries: number;
    deploymentId: string;
    waiting: string;
    graphConfigPath: string | undefined;
    digest: string;
  };
  /** The live revision is sent the tests that compare with it: it is replaced before the new one can be tested. */
  measuring: { tries: number; prepared: Prepared };
  /** `key`: the idempotency key. */
  sending: { tries: number; prepared: Prepared; key: string };
  /** An earlier run was about to send it, and may have. */
  resolving: { prepared: Prepared; key: string };
  following: { own: RunRevision };
  /** Its revision waits for a decision before it gets traffic, and answers at an address of its own until `endsAt`. */
  held: { own: RunRevision; address: string; endsAt: string } & Partial<Conversing>;
  /** Without a result it is discarded untested. `mayBeSent`: an earlier run was about to send the decision. */
  deciding: { own: RunRevision; decision: HoldDecision; result?: TestResult | undefined; mayBeSent?: true };
  /** Its hold is over, and it is followed to its end. */
  decided: { own: RunRevision; result?: TestResult | undefined };
  /** It serves, and is tested there unless it was before. */
  live: { own: RunRevision; result?: TestResult | undefined } & Partial<Conversing>;
  /** There is nothing to follow: what was live stays live. */
  serving: { result?: TestResult };
  /** The build of `target` is requested again, in place of `from`; `former` is the newest revision. `mayBeSent`: an earlier run was about to, and may have. */
  restoring: Restoring & { from: string; former: string | null; key: string; mayBeSent: boolean };
  /** The revision that goes back to `target` is followed and tested. */
  returning: Restoring & { revisionId: string };
  ended: { ending: Ending };
}

/** Its smoke tests have ended, and conversations are tried on it. */
interface Conversing {
  tested: TestResult;
  /** How far they are, where the former revision can still be asked. */
  conversations?: ConversationCourse;
}

interface Restoring {
  /** The revision that failed its tests; absent where the rollback was requested. */
  undone?: { own: RunRevision; result: TestResult } | undefined;
  deploymentId: string;
  target: string;
}

/** A deploy in one of these states. */
export type DeployIn<State extends keyof States> = { [Each in State]: { state: Each } & States[Each] }[State];
/** Where a run stands. Each state is kept in the journal before its effect. */
export type Deploy = DeployIn<keyof States>;
export type OpenState = Exclude<keyof States, 'ended'>;

/** The revision that a deploy is about, once it is known. */
export function ownOf(deploy: Deploy): RunRevision | undefined {
  if ('own' in deploy) return deploy.own;
  return 'undone' in deploy ? deploy.undone?.own : undefined;
}

/** What its tests found, once that is known. */
export function resultOf(deploy: Deploy): TestResult | undefined {
  if ('result' in deploy) return deploy.result;
  return 'undone' in deploy ? deploy.undone?.result : undefined;
}

/** How a run ends; its results so far are in its last state and in `RunState`. */
export type Ending =
  | { kind: 'impossible' }
  | { kind: 'planned' }
  /** Nothing was sent: its environment is frozen. */
  | ({ kind: 'frozen' } & FrozenFacts)
  /** Nothing is on its way: what was live stays live. */
  | { kind: 'kept' }
  /** Another client was faster each time. */
  | { kind: 'overtaken'; error: ServiceError }
  /** The service took the change, and made no revision of it. */
  | { kind: 'no-revision' }
  /** Whether the request took effect is unknown. It is never sent again. */
  | { kind: 'unsettled'; what: 'creation' | 'change' | 'deletion'; error: ServiceError }
  /** The folder is no longer what was planned: nothing of it was taken. */
  | { kind: 'not-uploaded'; why: string }
  /** There is no such deployment, and this mode makes none. */
  | { kind: 'absent' }
  | { kind: 'started' }
  | { kind: 'followed' }
  | { kind: 'tested' }
  | { kind: 'rollback-done' }
  /** `found`: it existed when the run started. */
  | { kind: 'gone'; found: boolean }
  | { kind: 'would-delete' }
  | { kind: 'deletion-started' }
  | { kind: 'still-there' }
  | { kind: 'service-error'; error: ServiceError }
  /** The service refused the change, and made nothing of it. */
  | { kind: 'refused'; error: ServiceError }
  /** `discarded`: the revision that this run held has been ended. */
  | { kind: 'cancelled'; discarded: boolean };
