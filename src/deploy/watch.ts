import { mayPass } from '../contract/service-error.ts';
import { rolloutAfter, rolloutOf, rolloutOutOfTime, type RevisionObservation } from '../planning/rollout.ts';
import type { EndedRollout, Rollout, SeenStatus } from '../planning/rollout-types.ts';
import { attempt, type Attempted } from './attempt.ts';
import type { DeployRun } from './deploy-run.ts';
import { observeRevision } from './observe-revision.ts';

/** The longest silence while a revision is watched (ms). */
const heartbeatMs = 30_000;

/** How often in a row the service may say no to a poll before it is believed: a new revision may not be seen at once. */
const refusals = 5;

/** Which revision is watched, until when, and where what was seen of it is kept. */
export interface Watched {
  deploymentId: string;
  revisionId: string;
  /** The moment (ms since the epoch) at which watching ends. */
  deadline: number;
  /** What was seen of it before. */
  seen?: readonly SeenStatus[] | undefined;
  /** Called after every poll, so that an interrupted run still knows the progress. */
  record: (rollout: Rollout) => void;
}

/** Polls one revision and emits its state when it changes. */
export class Watch {
  readonly #run: DeployRun;
  readonly #watched: Watched;
  readonly #since: number;
  #reportedAt: number;
  rollout: Rollout;

  constructor(run: DeployRun, watched: Watched) {
    this.#run = run;
    this.#watched = watched;
    this.#since = run.request.clock.now();
    this.#reportedAt = this.#since;
    this.rollout = rolloutOf(watched.revisionId, watched.seen);
  }

  /** Polls once. Only a finished revision needs the deployment, to see which revision is active. */
  async look(): Promise<Attempted<Rollout>> {
    const observation = await attempt(this.#observe());
    if (!observation.ok) {
      this.#run.emit({ kind: 'poll-failed', why: this.#run.redact(observation.error.message) });
      this.#heartbeat();
      return observation;
    }
    const former = this.rollout.seen.length;
    this.rollout = rolloutAfter(this.rollout, observation.value);
    this.#watched.record(this.rollout);
    if (this.rollout.seen.length > former) this.#emitStatus(observation.value);
    else this.#heartbeat();
    return { ok: true, value: this.rollout };
  }

  /** Waits for the next poll, as long as the service requires, and reports the wait periodically. */
  async untilNextLook(atLeastMs = 0): Promise<void> {
    const { clock, signal } = this.#run.request;
    const next = this.#run.nextPollAt(this.#watched.deadline, atLeastMs);
    while (clock.now() < next) {
      const quietUntil = Math.min(next, this.#reportedAt + heartbeatMs);
      await clock.sleep(Math.max(0, quietUntil - clock.now()), signal);
      if (clock.now() < next) this.#heartbeat();
    }
  }

  async #observe(): Promise<RevisionObservation> {
    const { control, clock } = this.#run.request;
    const { deploymentId, revisionId, deadline } = this.#watched;
    const options = () => this.#run.reading(deadline);
    const observed = await observeRevision({ deploymentId, revisionId, control, options, now: () => clock.now() });
    if (observed.whole) this.#run.saw(observed.whole);
    const { status_message: message } = observed.revision;
    return message
      ? { ...observed, revision: { ...observed.revision, status_message: this.#run.redact(message) } }
      : observed;
  }

  #emitStatus({ at, revision: { status, status_message } }: RevisionObservation): void {
    this.#reportedAt = at;
    this.#run.emit({
      kind: 'status',
      revisionId: this.rollout.revisionId,
      status,
      at,
      sinceMs: at - this.#since,
      ...(status_message ? { message: status_message } : {}),
    });
  }

  #heartbeat(): void {
    const now = this.#run.request.clock.now();
    if (now - this.#reportedAt < heartbeatMs) return;
    this.#reportedAt = now;
    this.#run.emit({
      kind: 'heartbeat',
      revisionId: this.rollout.revisionId,
      status: this.rollout.seen.at(-1)?.status ?? 'not seen yet',
      sinceMs: now - this.#since,
      leftMs: Math.max(0, this.#watched.deadline - now),
    });
  }
}

/**
 * Follows one revision to its end: by its id, whatever else becomes the newest one. A poll that fails is no end; it is
 * taken again until the deadline. Throws the `ServiceError` of a service that keeps saying no.
 */
export async function watchRevision(watched: Watched, run: DeployRun): Promise<EndedRollout> {
  const watch = new Watch(run, watched);
  let refused = 0;
  while (watch.rollout.kind === 'in-progress' && run.request.clock.now() < watched.deadline) {
    const looked = await watch.look();
    refused = looked.ok || mayPass(looked.error) ? 0 : refused + 1;
    if (!looked.ok && refused >= refusals) throw looked.error;
    if (watch.rollout.kind !== 'in-progress') break;
    await watch.untilNextLook(looked.ok ? 0 : looked.error.retryAfterMs);
  }
  const rollout = rolloutOutOfTime(watch.rollout);
  watched.record(rollout);
  run.emit({ kind: 'rolled-out', rollout });
  return rollout;
}
