import type { Intent, IntentIn, Undecided, UnsentIntent } from './intent.ts';
import { deploysCommit } from './deploy-request.ts';
import type { DeploymentQueue } from './store.ts';

/** The steps of a deployment queue, with what each is about. */
interface Steps {
  /** Send the live revision the tests that compare with it, before anything is requested. */
  measure: { intent: IntentIn<'measuring'> };
  /** Find out whether the sent request took effect. */
  resolve: { intent: IntentIn<'sending'> };
  follow: { intent: IntentIn<'following'> };
  smoke: { intent: IntentIn<'testing'> };
  /** Promote or discard a held revision that was tested. */
  'decide-hold': { intent: IntentIn<'deciding'> };
  conclude: { intent: IntentIn<'concluding'> };
  /** Read the head and sort the requests by it; if the deployment is free, decide the one for the head. */
  requests: { busyWith: BusyIntent | undefined };
  /** Redeploy an old revision: our own rollback, or a person's. */
  'roll-back': { intent: Undecided; revisionId: string };
  /** Test the revision that serves, as a person requested. */
  test: { intent: Undecided; revisionId: string };
  expect: { intent: IntentIn<'expecting'> };
  /** Request what the deployment has proven of the next environment. */
  promote: { intentId: string };
  /** Report the verdict on a revision that is being rolled back. */
  'report-verdict': { intent: IntentIn<'undoing'> };
  /** Idle until `until` (ms since the epoch); without it, until the queue is notified. */
  requeue: { until: number | undefined };
}

export type StepOf<Kind extends keyof Steps> = { [Each in Kind]: { kind: Each } & Steps[Each] }[Kind];
/** The next step of a deployment queue. */
export type Step = StepOf<keyof Steps>;
export type ActiveKind = Exclude<keyof Steps, 'requeue'>;

type RunningState = 'sending' | 'following' | 'testing' | 'deciding' | 'concluding';
type RunningIntent = IntentIn<RunningState>;
/** What a request has to wait for. */
export type BusyIntent = IntentIn<RunningState | 'undoing'>;

/** The key for deferring all requests of a queue. */
export const requestsKey = 'requests';

/** The key for deferring what is requested of the next environment. */
export const promotesKey = 'promotes';

/**
 * The next step of a queue, from its open intents. `deferred` holds what is idle until a time: intents by id, and
 * `requests` and `promotes`. The order below finishes started work before anything new starts.
 */
export function nextStep(
  deploymentQueue: DeploymentQueue,
  open: readonly Intent[],
  deferred: ReadonlyMap<string, number>,
): Step {
  const isReady = ({ id }: Intent) => !deferred.has(id);
  const started = runningOf(open);
  const { promotes } = deploymentQueue;
  if (promotes !== undefined && !deferred.has(promotesKey)) return { kind: 'promote', intentId: promotes };
  const undone = open.filter((intent) => intent.state === 'undoing');
  const due = undone.find(
    (intent) => intent.verdictDueAt !== undefined && isReady(intent) && isRollbackSent(intent, open),
  );
  if (due) return { kind: 'report-verdict', intent: due };
  if (started && isReady(started)) return stepOf(started);
  const isFresh = open.some((intent) => isRequestForCommit(intent) && isUnsorted(intent, deploymentQueue));
  if (isFresh && !deferred.has(requestsKey)) return { kind: 'requests', busyWith: started ?? undone[0] };
  if (!started) {
    const redeploys = open.filter(isUndecided).flatMap(redeployOf);
    const back = redeploys.find(({ intent }) => intent.cause.kind === 'failure');
    if (back && isReady(back.intent)) return back;
    const [requested] = undone.length > 0 ? [] : redeploys;
    if (requested && isReady(requested.intent)) return requested;
    const isFree = undone.length === 0 && !requested;
    const waits = isFree && open.some((intent) => intent.state === 'waiting' && isRequestForCommit(intent));
    if (waits && !deferred.has(requestsKey)) return { kind: 'requests', busyWith: undefined };
    const test = isFree
      ? open
          .filter(isUndecided)
          .flatMap(testOf)
          .find(({ intent }) => isReady(intent))
      : undefined;
    if (test) return test;
    const measuring = isFree ? open.find((intent) => intent.state === 'measuring') : undefined;
    if (measuring && isReady(measuring)) return { kind: 'measure', intent: measuring };
  }
  const expecting = open.filter((intent) => intent.state === 'expecting').find(isReady);
  if (expecting) return { kind: 'expect', intent: expecting };
  const ids = new Set([requestsKey, promotesKey, ...open.map(({ id }) => id)]);
  const times = [...deferred].filter(([key]) => ids.has(key)).map(([, until]) => until);
  return { kind: 'requeue', until: times.length > 0 ? Math.min(...times) : undefined };
}

/** The steps of what was started. */
const running: { [State in RunningState]: (intent: IntentIn<State>) => Step } = {
  sending: (intent) => ({ kind: 'resolve', intent }),
  following: (intent) => ({ kind: 'follow', intent }),
  testing: (intent) => ({ kind: 'smoke', intent }),
  deciding: (intent) => ({ kind: 'decide-hold', intent }),
  concluding: (intent) => ({ kind: 'conclude', intent }),
};
const stepOf = <State extends RunningState>(intent: IntentIn<State>): Step => running[intent.state](intent);

const isRunning = (intent: Intent): intent is RunningIntent => intent.state in running;

/** The intent that the deployment is busy with; one that only waits for its own rollback does not count. */
export const runningOf = (open: readonly Intent[]): RunningIntent | undefined => open.find(isRunning);

/** The service has taken the request for its rollback, which does not wait for a report. */
const isRollbackSent = ({ id }: IntentIn<'undoing'>, open: readonly Intent[]): boolean =>
  open.some(
    (intent) =>
      intent.cause.kind === 'failure' && intent.cause.key === id && isRunning(intent) && intent.state !== 'sending',
  );

/** The states in which nothing was sent. */
const unsentStates: readonly Intent['state'][] = ['requested', 'waiting', 'paused', 'measuring', 'expecting'];

/** True for an unsent request to deploy a commit: the head of a branch, or what the environment before has proven. */
export const isRequestForCommit = (intent: Intent): intent is UnsentIntent =>
  deploysCommit(intent.sending) && unsentStates.includes(intent.state);

const isUndecided = (intent: Intent): intent is Undecided => intent.state === 'requested' || intent.state === 'waiting';

const redeployOf = (intent: Undecided): Extract<Step, { kind: 'roll-back' }>[] =>
  intent.sending.kind === 'redeploy' ? [{ kind: 'roll-back', intent, revisionId: intent.sending.revisionId }] : [];

const testOf = (intent: Undecided): Extract<Step, { kind: 'test' }>[] =>
  intent.sending.kind === 'test' ? [{ kind: 'test', intent, revisionId: intent.sending.revisionId }] : [];

const isUnsorted = ({ state }: Intent, deploymentQueue: DeploymentQueue): boolean =>
  state === 'requested' || (state === 'paused' && !deploymentQueue.held);
