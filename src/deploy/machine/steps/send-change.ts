import type { Clock } from '../../../kit/clock.ts';
import type { CallOptions } from '../../../contract/call-options.ts';
import type {
  Deployment,
  DeploymentCreateRequest,
  DeploymentPatchRequest,
  IdleAfter,
} from '../../../contract/control/deployment.ts';
import type { ChangeOptions, ControlFeatures, ControlService } from '../../../contract/control/service.ts';
import type { ServiceError } from '../../../contract/service-error.ts';
import type { Verify } from '../../file/desired.ts';
import { afterTraffic, decideVerification, holdRefusal, type Verification } from '../../rules/verification.ts';
import { tryCall, type CallResult } from '../../smoke/try-call.ts';
import { withGrace } from '../deadlines.ts';

/** A request that may make a revision. */
export type Change =
  | { kind: 'create'; request: DeploymentCreateRequest }
  | { kind: 'patch'; deploymentId: string; request: DeploymentPatchRequest }
  | { kind: 'redeploy'; deploymentId: string; revisionId: string };

/** What a change is based on, and what is requested of its revision. */
export interface ChangeGuard {
  /** The newest revision before it; null for a creation. */
  former: string | null;
  /** The idempotency key. */
  key?: string | undefined;
  holdSeconds?: number | undefined;
  /** The commit that the service is told to build, instead of the head of the ref. */
  commit?: string | undefined;
  /** The revision of another deployment whose build is deployed. */
  buildOf?: string | undefined;
  /** When the agent is scaled to zero. */
  idleAfter?: IdleAfter | undefined;
  /** When the tests were requested. */
  verify?: Verify | undefined;
}

/** The service, and how long a write may take: after an abort it goes on for `graceMs`, because it may have taken effect. */
export interface Sender {
  control: Pick<ControlService, 'createDeployment' | 'patchDeployment' | 'redeployRevision'>;
  clock: Clock;
  signal?: AbortSignal | undefined;
  graceMs: number;
  withinMs: number;
}

export type SendResult =
  /** An old revision that the service itself puts back is the one that was made. */
  | { kind: 'made'; deployment: Deployment; revisionId: string }
  /** The response reports no new revision. */
  | { kind: 'accepted'; deployment: Deployment }
  /** The service can't hold this revision, and has made none: when it is tested then. */
  | { kind: 'hold-refused'; verification: Verification }
  /** Another client was first. */
  | { kind: 'overtaken'; error: ServiceError }
  /** Whether it took effect is unknown. */
  | { kind: 'lost'; error: ServiceError }
  /** It had no effect. */
  | { kind: 'refused'; error: ServiceError };

/** Sends one change, once. */
export async function sendChange(change: Change, guard: ChangeGuard, by: Sender): Promise<SendResult> {
  const { former, key: idempotencyKey, holdSeconds, commit, buildOf, idleAfter } = guard;
  const more = { idempotencyKey, holdSeconds, commit, buildOf, idleAfter, ifLatest: former ?? undefined };
  const sent = await writeOnce((options) => perform(change, { ...options, ...more }, by.control), by);
  if (sent.ok) {
    const { latest_revision_id: latest } = sent.value;
    const target = change.kind === 'redeploy' ? change.revisionId : undefined;
    const revisionId = latest && latest !== former ? latest : target;
    return revisionId
      ? { kind: 'made', deployment: sent.value, revisionId }
      : { kind: 'accepted', deployment: sent.value };
  }
  const { error } = sent;
  if (error.effect === 'unknown') return { kind: 'lost', error };
  const why = holdSeconds === undefined ? undefined : holdRefusal(error);
  if (why !== undefined) return { kind: 'hold-refused', verification: afterTraffic(guard.verify, why) };
  const isOvertaken = change.kind === 'create' ? error.kind === 'conflict' : error.status === 412;
  return { kind: isOvertaken ? 'overtaken' : 'refused', error };
}

/** Sends one write within its time. */
export const writeOnce = <T>(
  send: (options: CallOptions) => Promise<T>,
  { clock, signal, graceMs, withinMs }: Omit<Sender, 'control'>,
): Promise<CallResult<T>> => {
  const deadline = clock.now() + withinMs;
  return withGrace(clock, graceMs, signal, (late) => tryCall(send({ deadline, signal: late })));
};

function perform(change: Change, options: ChangeOptions, control: Sender['control']): Promise<Deployment> {
  switch (change.kind) {
    case 'create':
      return control.createDeployment(change.request, options);
    case 'patch':
      return control.patchDeployment(change.deploymentId, change.request, options);
    case 'redeploy':
      return control.redeployRevision(change.deploymentId, change.revisionId, options);
  }
}

/** What proves a revision, and when it should. */
interface TestTerms {
  verify?: Verify | undefined;
  smokeTests: readonly unknown[];
  conversations?: unknown;
}

/** When the revision of a change is tested. What the service offers is read only where it may hold the revision. */
export async function decideWhenToTest(asked: {
  terms: TestTerms;
  /** It is not waited for, or has to serve soon: then nothing would decide about a hold. */
  isUnheld: boolean;
  /** A revision serves: without one there are no conversations. */
  isReplacing: boolean;
  features: () => Promise<ControlFeatures>;
  /** What to do while the service does not say what it offers, where `verify` is not given. */
  onUnavailable: 'throw' | 'after-traffic';
}): Promise<Verification> {
  const { terms, isUnheld, isReplacing, features, onUnavailable } = asked;
  const { verify, smokeTests, conversations } = terms;
  const tests = isUnheld ? 0 : smokeTests.length + (conversations && isReplacing ? 1 : 0);
  const mayHold = decideVerification({ verify, tests, holds: true });
  if (mayHold.when === 'after-traffic') return mayHold;
  const read = await tryCall(features());
  if (read.ok) return decideVerification({ verify, tests, holds: read.value.holds });
  if (verify || onUnavailable === 'throw') throw read.error;
  return { when: 'after-traffic', note: { code: 'unavailable', text: read.error.message } };
}
