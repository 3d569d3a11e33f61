import type { Deployment } from '../contract/control/deployment.ts';
import { classOfRevisionStatus } from '../contract/control/revision.ts';
import { rolloutAfter, rolloutOf, type Observation } from '../planning/rollout.ts';
import type { Rollout, SeenStatus } from '../planning/rollout-types.ts';
import { attempt, type Attempted } from './attempt.ts';
import type { DeployRun } from './deploy-run.ts';

/** The longest silence while a revision is watched (ms). */
const heartbeatMs = 30_000;

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

  async #observe(): Promise<Observation> {
    const { control, clock } = this.#run.request;
    const { revisionId } = this.rollout;
    const revision = await control.getRevision(
      this.#watched.deploymentId,
      revisionId,
      this.#run.reading(this.#watched.deadline),
    );
    const message = revision.status_message ? this.#run.redact(revision.status_message) : revision.status_message;
    const observation = { at: clock.now(), revision: { ...revision, status_message: message } };
    const known = classOfRevisionStatus(revision.status);
    if (known !== 'live' && known !== 'superseded') return observation;
    const deployment = this.#run.saw(
      await control.getDeployment(this.#watched.deploymentId, this.#run.reading(this.#watched.deadline)),
    );
    return { ...observation, at: clock.now(), deployment: await this.#serving(deployment) };
  }

  /** Compares creation times when the active revision is neither ours nor the newest: it may be older or newer than ours. */
  async #serving(deployment: Deployment): Promise<NonNullable<Observation['deployment']>> {
    const { active_revision_id: active, latest_revision_id: latest } = deployment;
    const serving = { activeRevisionId: active, latestRevisionId: latest };
    if (!active || active === this.rollout.revisionId || active === latest) return serving;
    const reading = this.#run.reading(this.#watched.deadline);
    const other = await attempt(this.#run.request.control.getRevision(this.#watched.deploymentId, active, reading));
    return other.ok ? { ...serving, activeCreatedAt: other.value.created_at } : serving;
  }

  #emitStatus({ at, revision: { status, status_message } }: Observation): void {
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
