import type { Intent, IntentState } from './intent.ts';
import type { DeploymentQueue } from './store.ts';

/** The next step of a deployment queue. */
export type Step =
  /** Send the live revision the tests that compare with it, before anything is requested. */
  | { kind: 'measure'; intent: Intent }
  /** Find out whether the sent request took effect. */
  | { kind: 'resolve'; intent: Intent }
  | { kind: 'follow'; intent: Intent }
  | { kind: 'smoke'; intent: Intent }
  /** Promote or discard a held revision that was tested. */
  | { kind: 'decide-hold'; intent: Intent }
  | { kind: 'conclude'; intent: Intent }
  /** Read the head and sort the requests by it; if the deployment is free, decide the one for the head. */
  | { kind: 'requests'; busyWith: Intent | undefined }
  /** Redeploy an old revision: our own rollback, or a person's. */
  | { kind: 'roll-back'; intent: Intent }
  | { kind: 'expect'; intent: Intent }
  /** Report the verdict on a revision that is being rolled back. */
  | { kind: 'report-verdict'; intent: Intent }
  /** Idle until `until` (ms since the epoch); without it, until the queue is notified. */
  | { kind: 'requeue'; until: number | undefined };

/** The key for deferring all requests of a queue. */
export const requestsKey = 'requests';

/**
 * The next step of a queue, from its open intents. `deferred` holds what is idle until a time: intents by id, and
 * `requests`. The order below finishes started work before anything new starts.
 */
export function nextStep(
  deploymentQueue: DeploymentQueue,
  open: readonly Intent[],
  deferred: ReadonlyMap<string, number>,
): Step {
  const isDeferred = (key: string) => deferred.has(key);
  const running = runningOf(open);
  const due = open.find(
    (intent) => intent.verdictDueAt !== undefined && !isDeferred(intent.id) && isRollbackSent(intent, open),
  );
  if (due) return { kind: 'report-verdict', intent: due };
  if (running && !isDeferred(running.id)) return stepOf(running);
  const back = open.find((intent) => intent.cause.kind === 'failure' && isUndecided(intent));
  const undoing = open.find((intent) => isBeingUndone(intent, open));
  const isFresh = open.some((intent) => isRequestForHead(intent) && isUnsorted(intent, deploymentQueue));
  if (isFresh && !isDeferred(requestsKey)) return { kind: 'requests', busyWith: running ?? undoing };
  const isFree = !running;
  if (isFree && back && !isDeferred(back.id)) return { kind: 'roll-back', intent: back };
  if (isFree && !undoing) {
    const requested = open.find((intent) => intent.sending.kind === 'redeploy' && isUndecided(intent));
    if (requested && !isDeferred(requested.id)) return { kind: 'roll-back', intent: requested };
    const waits = !requested && open.some((intent) => isRequestForHead(intent) && intent.state === 'waiting');
    if (waits && !isDeferred(requestsKey)) return { kind: 'requests', busyWith: undefined };
    const measuring = requested ? undefined : open.find(({ state }) => state === 'measuring');
    if (measuring && !isDeferred(measuring.id)) return { kind: 'measure', intent: measuring };
  }
  const expecting = open.find(({ state, id }) => state === 'expecting' && !isDeferred(id));
  if (expecting) return { kind: 'expect', intent: expecting };
  const ids = new Set([requestsKey, ...open.map(({ id }) => id)]);
  const times = [...deferred].filter(([key]) => ids.has(key)).map(([, until]) => until);
  return { kind: 'requeue', until: times.length > 0 ? Math.min(...times) : undefined };
}

/** The intent that the deployment is busy with; one that only waits for its own rollback does not count. */
export const runningOf = (open: readonly Intent[]): Intent | undefined =>
  open.find(
    (intent) =>
      intent.state === 'sending' ||
      intent.state === 'following' ||
      (intent.state === 'smoking' && !isBeingUndone(intent, open)),
  );

/** A live revision with a wrong response, while the previous one is restored. */
const isBeingUndone = (intent: Intent, open: readonly Intent[]): boolean =>
  intent.state === 'smoking' && open.some(({ cause }) => cause.kind === 'failure' && cause.key === intent.id);

/** The service has taken the request for its rollback, which does not wait for a report. */
const isRollbackSent = ({ id }: Intent, open: readonly Intent[]): boolean =>
  open.some(
    ({ cause, state }) =>
      cause.kind === 'failure' && cause.key === id && (state === 'following' || state === 'smoking'),
  );

/** The states in which nothing was sent. */
const unsentStates: readonly IntentState[] = ['requested', 'waiting', 'held', 'measuring', 'expecting'];

/** True for an unsent request for the head of a branch. */
export const isRequestForHead = ({ sending, state }: Intent): boolean =>
  sending.kind === 'restate' && unsentStates.includes(state);

const isUndecided = ({ state }: Intent): boolean => state === 'requested' || state === 'waiting';

const isUnsorted = ({ state }: Intent, deploymentQueue: DeploymentQueue): boolean =>
  state === 'requested' || (state === 'held' && !deploymentQueue.held);

function stepOf(intent: Intent): Step {
  if (intent.state === 'sending') return { kind: 'resolve', intent };
  if (intent.state === 'following') return { kind: 'follow', intent };
  if (!intent.verdict) return { kind: 'smoke', intent };
  return { kind: intent.hold ? 'decide-hold' : 'conclude', intent };
}
