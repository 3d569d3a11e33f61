import type { PushRules } from '../../src/deploy/rules/trigger-types.ts';
import type { Note } from '../../src/deploy/rules/note.ts';
import type { OnFailure, OnUnproven, Verify } from '../../src/deploy/file/desired.ts';
import type { EnvironmentGate } from '../../src/deploy/file/environment-gate.ts';
import type { ConversationTerms } from '../../src/deploy/file/conversations.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { InstallationRepository } from '../github/github-api.ts';

/** Why this commit is requested on this deployment. One cause makes at most one revision. */
export interface Cause {
  /** `failure` is our own rollback after a failed smoke test; `promotion` follows a proven deploy by itself. */
  kind: 'push' | 'rerun' | 'redeploy' | 'rollback' | 'recovery' | 'failure' | 'promotion';
  /** What makes the cause one: the delivery's GUID; for our own causes a text made from what they are about. */
  key: string;
  /** Login of the person who requested the action. */
  by?: string;
  /** The person confirmed this very commit: a newer head of the branch ends the request. */
  isPinned?: true;
  /** The person said that a freeze of the environment does not count. */
  ignoresFreeze?: true;
  /** When it was received (ms since the epoch). */
  at: number;
  /** How late we were (ms), where a push was found by looking and not by its delivery. */
  lateMs?: number;
}

/** The deployment of the environment before. */
export interface EarlierDeployment {
  deploymentId: string;
  name: string;
}

/** A revision that the environment before serves and has proven. */
export interface PromotedFrom extends EarlierDeployment {
  revisionId: string;
  /** Grows with the order in which its revisions were proven. */
  order: number;
}

/**
 * What is sent to the service: the ref again, so that its head is built; the ref with what the environment before has
 * proven; or an old revision's build once more; or nothing, where only the revision that serves is tested.
 */
export type ServiceRequest =
  | { kind: 'restate'; repoRef: string }
  | { kind: 'promote'; repoRef: string; from: PromotedFrom }
  | { kind: 'redeploy'; revisionId: string }
  | { kind: 'test'; revisionId: string };

/** Whether a commit is deployed, and not an old revision restored, or one only tested. */
export const deploysCommit = ({ kind }: ServiceRequest): boolean => kind === 'restate' || kind === 'promote';

/** The deploy file's rules for this commit, stored with the request, so that later jobs need no file. */
export interface DeployTerms {
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
  /** What the deploy file keeps from its environment; absent: nothing. */
  gate?: EnvironmentGate;
  /** The file speaks of freeze windows or holds, and could not be read. */
  isGateUnknown?: true;
  /** Logins of those who may act on it by comments and buttons, where its environment is production; absent: all. */
  admins?: readonly string[];
  /** The file speaks of admins, and could not be read. */
  areAdminsUnknown?: true;
  /** What is deployed to it is promoted from this one. */
  promotedFrom?: EarlierDeployment;
  /** The names of the deployments that are promoted from it. */
  promotesTo?: readonly string[];
  /** Fields in which the file and the deployment differ, and how to apply them; fit to show. */
  differences: readonly { field: string; from: string | undefined; to: string | undefined }[];
  /** How long a revision is waited for (ms). */
  timeoutMs: number;
  /** Problems of the file that did not keep us from acting, fit to show, and notes on what was done. */
  notes: readonly (Note | string)[];
}

/** What is recorded of a deploy that is requested. */
export interface DeployRequest {
  deploymentId: string;
  repository: InstallationRepository;
  /** Plain name of the branch. */
  branch: string;
  commit: string;
  cause: Cause;
  terms: DeployTerms;
  sending: ServiceRequest;
}

/** A request that follows from another one: for the same deployment and branch, on the same terms. */
export const requestLike = (
  { deploymentId, repository, branch, terms }: DeployRequest,
  requested: Pick<DeployRequest, 'commit' | 'sending' | 'cause'>,
): DeployRequest => ({ deploymentId, repository, branch, terms, ...requested });

/** A request for the head of a branch because of another one's outcome; once per key. */
export const requestForHead = (intent: DeployRequest, commit: string, key: string, at: number): DeployRequest => {
  const { branch, sending } = intent;
  return requestLike(intent, {
    commit,
    sending: sending.kind === 'restate' ? sending : { kind: 'restate', repoRef: branch },
    cause: { kind: 'push', key, at },
  });
};

/** A request for the head, because an earlier revision was built from another commit, or rolled back. */
export const requestAfter = (intent: DeployRequest & { id: string }, commit: string, at: number): DeployRequest =>
  requestForHead(intent, commit, `after-${intent.id}`, at);
