import { isTransient } from '../../contract/service-error.ts';
import { rolloutOutOfTime } from '../rules/rollout.ts';
import type { EndedRollout, Rollout, ObservedStatus } from '../rules/rollout-types.ts';
import { tryCall, type CallResult } from '../smoke/try-call.ts';
import { afterLook, type HeldRollout, isHeld } from './after-look.ts';
import type { DeployRun } from './deploy-run.ts';
import { observeRevision } from './observe-revision.ts';
import { rolloutOf } from './state.ts';

/** The longest silence while a revision or a deletion is watched (ms). */
export const heartbeatMs = 30_000;

/** How often in a row the service may say no to a poll before it is believed: a new revision may not be seen at once. */
export const refusals = 5;

/** Which revision is watched, until when, and where what was seen of it is kept. */
export interface WatchOptions {
  deploymentId: string;
  revisionId: string;
  /** The moment (ms since the epoch) at which watching ends. */
  deadline: number;
  /** What was seen of it before. */
  seen?: readonly ObservedStatus[] | undefined;
  /** Called after every poll, so that an interrupted run still knows the progress. */
  record: (rollout: Rollout) => void;
}

/** Polls one revision and emits its state when it changes. */
export function watch(run: DeployRun, watched: WatchOptions) {
  const { control, clock, signal } = run.request;
  const { deploymentId, revisionId, deadline } = watched;
  const since = clock.now();
  let reportedAt = since;
  let rollout = rolloutOf(revisionId, watched.seen);

  const observe = () =>
    observeRevision(rollout, {
      deploymentId,
      control,
      options: () => run.reading(deadline),
      now: () => clock.now(),
      shown: ({ message, whole }) => {
        if (whole) run.saw(whole);
        return message ? run.redact(message) : undefined;
      },
    });

  function emitStatus({ status, at }: ObservedStatus, message: string | undefined): void {
    reportedAt = at;
    run.emit({ kind: 'status', revisionId, status, at, sinceMs: at - since, ...(message ? { message } : {}) });
  }

  function heartbeat(): void {
    const now = clock.now();
    if (now - reportedAt < heartbeatMs) return;
    reportedAt = now;
    const status = rollout.seen.at(-1)?.status ?? 'not seen yet';
    run.emit({ kind: 'heartbeat', revisionId, status, sinceMs: now - since, leftMs: Math.max(0, deadline - now) });
  }

  return {
    rollout: () => rollout,

    /** Polls once. Only a finished revision needs the deployment, to see which revision is active. */
    look: async (): Promise<CallResult<Rollout>> => {
      const observation = await tryCall(observe());
      if (!observation.ok) {
        run.emit({ kind: 'poll-failed', why: run.redact(observation.error.message) });
        heartbeat();
        return observation;
      }
      const former = rollout.seen.length;
      rollout = observation.value.rollout;
      run.builds.set(revisionId, observation.value.revision);
      watched.record(rollout);
      const last = rollout.seen.at(-1);
      if (last && rollout.seen.length > former) emitStatus(last, observation.value.message);
      else heartbeat();
      return { ok: true, value: rollout };
    },

    /** Waits for the next poll, as long as the service requires, and reports the wait periodically. */
    untilNextLook: async (atLeastMs = 0): Promise<void> => {
      const next = run.nextPollAt(deadline, atLeastMs);
      while (clock.now() < next) {
        const quietUntil = Math.min(next, reportedAt + heartbeatMs);
        await clock.sleep(Math.max(0, quietUntil - clock.now()), signal);
        if (clock.now() < next) heartbeat();
      }
    },
  };
}

/**
 * Follows one revision to its end: by its id, whatever else becomes the newest one. A poll that fails is no end; it is
 * taken again until the deadline. Throws the `ServiceError` of a service that keeps refusing.
 */
export async function watchRevision(watched: WatchOptions, run: DeployRun): Promise<EndedRollout> {
  return concluded(await poll(watched, false, run), watched, run);
}

/** The same, until the revision is held at the latest. */
export async function watchUntilHeld(watched: WatchOptions, run: DeployRun): Promise<EndedRollout | HeldRollout> {
  const rollout = await poll(watched, true, run);
  return isHeld(rollout) ? rollout : concluded(rollout, watched, run);
}

function concluded(seen: Rollout, watched: WatchOptions, run: DeployRun): EndedRollout {
  const rollout = rolloutOutOfTime(seen);
  watched.record(rollout);
  run.emit({ kind: 'rolled-out', rollout });
  return rollout;
}

async function poll(watched: WatchOptions, untilHeld: boolean, run: DeployRun): Promise<Rollout> {
  const { look, rollout, untilNextLook } = watch(run, watched);
  const isOver = () => run.request.clock.now() >= watched.deadline;
  let refused = 0;
  while (!afterLook(rollout(), { untilHeld, isOver: isOver() })) {
    const looked = await look();
    refused = looked.ok || isTransient(looked.error) ? 0 : refused + 1;
    if (!looked.ok && refused >= refusals) throw looked.error;
    if (!afterLook(rollout(), { untilHeld, isOver: false }))
      await untilNextLook(looked.ok ? 0 : looked.error.retryAfterMs);
  }
  return rollout();
}
