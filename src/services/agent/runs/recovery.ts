import { stackOf } from '../../../kit/errors.ts';
import { steadyNow } from '../../../kit/clock.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import type { RunDependencies } from './dependencies.ts';
import { attemptIds } from './event-log.ts';
import { logFailure, polling } from '../storage/poll.ts';
import type { ClaimableRun } from './queue.ts';
import { RunStopped, cancelledError, ignoreFactoryError } from './run-error.ts';
import { runKwargs, type RunPlan } from './run-plan.ts';
import type { StoredRun } from './run-row.ts';
import type { Runs } from './runs.ts';
import { lifecycleAfter, lifecycleEvent, runLifecycle } from './thread-event-stream.ts';
import { stateAfter } from './open-tasks.ts';
import { readsThread } from '../graphs/graph.ts';

/** The polling interval (ms) for orphaned runs, and for requests to this process. */
const sweepMs = 1000;
const atOnce = 100;

const defaultLeaseMs = 30_000;
const extendMs = 5000;
/** How long (ms) the events of an ended run are kept, and how often (ms) old ones are pruned. */
const eventsKeptMs = 10 * 60_000;
const deleteEventsMs = 60_000;

type RecoveryDependencies = Pick<RunDependencies, 'store' | 'queue' | 'events' | 'graphs' | 'clock' | 'log'> & {
  runs: Runs;
  leaseMs?: number | undefined;
};

/**
 * Takes over runs whose process is gone, or has no slot for them. A process is gone when its lease has expired, or when
 * two polls in a row find no connection of it.
 */
export function recoveryOf({
  store,
  queue,
  events,
  runs,
  graphs,
  clock,
  log,
  leaseMs = defaultLeaseMs,
}: RecoveryDependencies) {
  let seenOnce: ReadonlySet<string> = new Set();
  let extendedAt = -Infinity;
  let forgotAt = -Infinity;

  async function look(): Promise<void> {
    await keepLease();
    for (const { run_id, cancel_action, watched } of await queue.requests()) {
      const execution = runs.executor.find(run_id);
      if (watched) execution?.record();
      if (cancel_action !== null) execution?.stop(cancel_action === 'rollback' ? 'rolled-back' : 'cancelled');
    }
    await takeWhatWasLeft();
    await deleteOldEvents();
  }

  /** Takes over orphaned runs. A process that shuts down releases its runs to the next one. */
  async function takeWhatWasLeft(): Promise<void> {
    if (runs.isClosing) return;
    const takeable = await queue.claimable({
      inHand: runs.runIds(),
      hasRoom: runs.executor.slots.free > 0,
      graphs: graphs.list().map(({ graphId }) => graphId),
      limit: atOnce,
    });
    let freeSlots = runs.executor.slots.free;
    for (const run of takeable) {
      if (runs.isClosing) return;
      if (run.because === 'waits-for-a-slot' && freeSlots-- <= 0) continue;
      if (isSure(run) || seenOnce.has(key(run))) await tryToTakeCareOf(run);
    }
    seenOnce = new Set(takeable.map(key));
  }

  /** Extends the lease, and drops the runs that others have taken. */
  async function keepLease(): Promise<void> {
    let lapsed = false;
    if (steadyNow(clock) - extendedAt >= Math.min(extendMs, leaseMs / 3)) {
      lapsed = await queue.extendLease(leaseMs);
      extendedAt = steadyNow(clock);
    }
    for (const id of await queue.takenAway(lapsed ? runs.runIds() : runs.executor.waiting()))
      runs.executor.find(id)?.stop('taken');
  }

  async function deleteOldEvents(): Promise<void> {
    if (steadyNow(clock) - forgotAt < deleteEventsMs) return;
    forgotAt = steadyNow(clock);
    await events.deleteBefore(clock.now() - eventsKeptMs);
  }

  /** Logs a failure, so that one run does not block the others. */
  async function tryToTakeCareOf(run: ClaimableRun): Promise<void> {
    try {
      await takeCareOf(run);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      log.error({ runId: run.run_id }, `Run ${run.run_id} ${why(run)}, and could not be taken over: ${stackOf(error)}`);
    }
  }

  async function takeCareOf(run: ClaimableRun): Promise<void> {
    const isReadable = runKwargs.safeParse(run.kwargs).success;
    const heldNoLonger = run.held_no_longer;
    const decision = decideOrphan({ ...run, isReadable, heldNoLonger }, (graphId) => graphs.has(graphId));
    if (!(await queue.takeUp(run, decision.kind === 'go-on'))) return;
    const next = run.attempt + (run.status === 'running' ? 1 : 0);
    if (decision.kind === 'go-on') {
      log.info({ runId: run.run_id }, `Run ${run.run_id} ${why(run)}; going on with attempt ${next}.`);
      // Of an end that its process did not come to store: an attempt that is still pending has no events.
      if (run.status === 'pending' && run.kwargs['thread_stream'] === true)
        await events.deleteFrom(run.run_id, run.attempt);
      const plan = planOf(run, clock.now());
      const execution = runs.executor.start(plan, Number(run.sequence), { attempt: next });
      // Followers in the previous process receive its events from here.
      if (run.watched || run.because === 'waits-for-a-slot' || run.because === 'lease-over') execution.record();
      return;
    }
    const isUndone = run.cancel_action === 'rollback';
    const level = !isUndone && ['error', 'timeout'].includes(decision.status) ? 'error' : 'info';
    log[level](
      { runId: run.run_id },
      `Run ${run.run_id} ${why(run)}; it ${isUndone ? 'is rolled back' : `ends as ${decision.status}`}.`,
    );
    const ended = { runId: run.run_id, temporary: run.temporary, webhook: webhookOf(run) };
    const ending = { id: run.attempt * attemptIds - 1, kind: 'error', json: JSON.stringify(decision.error) } as const;
    // Its row is deleted with it: waiting callers in other processes find the outcome here.
    if (run.temporary || isUndone) await events.write(run.run_id, [], ending);
    else if (run.kwargs['thread_stream'] === true) await reportEnd(run, decision);
    if (isUndone) return store.rollBack(run.run_id);
    const after = await threadAfter(run);
    await store.end(ended, { status: decision.status, error: decision.error, values: undefined, ...after });
  }

  /** Stores the event by which followers of the thread learn that a run has ended without its process. */
  async function reportEnd({ run_id, attempt, graph_id }: ClaimableRun, { status, error }: EndDecision): Promise<void> {
    const params = runLifecycle(lifecycleAfter(status, false), graph_id, { at: clock.now(), error: error.message });
    await events.deleteUnstoredEnd(run_id);
    const id = Math.max((await events.last(run_id)) + 1, (attempt - 1) * attemptIds);
    await events.write(run_id, [{ id, event: lifecycleEvent, json: JSON.stringify(params) }]);
  }

  async function threadAfter(run: StoredRun): Promise<{ interrupts: string; unfinishedState: boolean }> {
    if (run.temporary || !graphs.has(run.graph_id)) return { interrupts: '{}', unfinishedState: false };
    const graph = await ignoreFactoryError(
      graphs.make(run.graph_id, { configurable: {}, runtime: readsThread }, 'thread'),
    );
    return graph ? stateAfter(graph, run.thread_id, log) : { interrupts: '{}', unfinishedState: true };
  }

  const what = 'Polling for orphaned runs';
  // In parallel: a poll may wait for the agent's code, while the lease must be extended.
  const polls = [keepLease, look].map((act) => polling(act, { what, everyMs: sweepMs, clock, log }));
  return {
    begin(): void {
      for (const each of polls) each.begin();
    },
    /** Stops polling, and ends the lease of this process. */
    async end(): Promise<void> {
      await Promise.all(polls.map((each) => each.end()));
      await queue.endLease().catch(logFailure(log, `${what} failed`));
    },
  };
}

const why = ({ because }: ClaimableRun): string =>
  because === 'waits-for-a-slot' ? 'waited for a slot of another process' : 'was left by a process that is gone';

/** Whether one poll is enough: a connection may just be broken, or the database's response be late. */
const isSure = ({ because }: ClaimableRun): boolean => because !== 'no-connection' && because !== 'lost';

const key = (run: StoredRun): string => `${run.run_id} ${run.process_id}`;

function webhookOf({ kwargs }: StoredRun): string | undefined {
  const { webhook } = kwargs;
  return typeof webhook === 'string' ? webhook : undefined;
}

/** Restores the plan of a stored run, to continue it at `now` (ms since the epoch). */
function planOf(run: StoredRun, now: number): RunPlan {
  return {
    runId: run.run_id,
    threadId: run.thread_id,
    assistantId: run.assistant_id,
    graphId: run.graph_id,
    metadata: run.metadata,
    threadMetadata: {},
    kwargs: runKwargs.parse(run.kwargs),
    multitaskStrategy: run.multitask_strategy,
    webhook: webhookOf(run),
    temporary: run.temporary,
    detached: run.detached,
    resumable: run.kwargs['resumable'] === true,
    // A delayed run that is due still has to be queued.
    delayMs: run.start_after === null ? 0 : Math.max(1, run.start_after.getTime() - now),
    acceptedAt: run.created_at.getTime(),
  };
}

/** The maximum number of attempts: a run that kills its process must not do so forever. */
const maxAttempts = 3;

interface EndDecision {
  kind: 'end';
  status: 'interrupted' | 'error';
  error: { error: string; message: string };
}

type OrphanDecision = { kind: 'go-on' } | EndDecision;

/**
 * Decides about a run whose process was killed or stopped. A detached run continues from its last checkpoint; a run
 * whose caller lost its connection ends as `on_disconnect` says.
 *
 * @param run `isReadable`: whether this process can parse the request, which another revision may have accepted.
 *   `heldNoLonger`: whether it was created at a held revision that got no traffic.
 */
export function decideOrphan(
  run: Pick<StoredRun, 'status' | 'attempt' | 'detached' | 'cancel_action' | 'graph_id'> & {
    isReadable: boolean;
    heldNoLonger?: boolean;
  },
  hasGraph: (graphId: string) => boolean,
): OrphanDecision {
  if (run.cancel_action !== null) return ended('interrupted', cancelledError, new RunStopped('cancelled').message);
  if (run.heldNoLonger)
    return ended('interrupted', 'RevisionDiscarded', 'The revision that had this run was held, and was discarded.');
  if (!run.detached) return ended('interrupted', 'ServerStopped', 'The server stopped before the run had ended.');
  if (!hasGraph(run.graph_id)) {
    return ended('error', 'GraphMissing', `The revision that took over the run has no graph "${run.graph_id}".`);
  }
  if (!run.isReadable) {
    return ended('error', 'RunNotReadable', 'The revision that took over the run can not read its request.');
  }
  if (run.status === 'running' && run.attempt >= maxAttempts) {
    return ended('error', 'ServerStopped', `The server stopped ${run.attempt} times before the run had ended.`);
  }
  return { kind: 'go-on' };
}

const ended = (status: 'interrupted' | 'error', error: string, message: string): OrphanDecision => ({
  kind: 'end',
  status,
  error: { error, message },
});
