import { pause, untilAborted, withTimeout, type Clock } from '../../kit/clock.ts';
import type { ClaimStanding } from '../../contract/control/listener-work.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { ClaimLost, type WorkLease } from '../control/compute/compute.ts';

interface LeaseDependencies {
  leaseMs: number;
  renew: (until: { deadline: number; signal: AbortSignal }) => Promise<ClaimStanding>;
  clock: Clock;
}

const renewAfter = 1 / 3;
const minMs = 200;

const isOver = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.kind === 'conflict' || error.kind === 'missing');

/**
 * Keeps a claim alive from now on. By this side's own clock it ends before the service may hand it to anybody else: it
 * is counted from the moment at which the last request that was answered was sent.
 *
 * @param heldSince when the request was sent that the service answered first (ms).
 */
export function keepLease({ leaseMs, renew, clock }: LeaseDependencies, heldSince: number) {
  const work = new AbortController();
  const lost = new AbortController();
  const ended = new AbortController();
  const over = AbortSignal.any([lost.signal, ended.signal]);
  let until = heldSince + leaseMs;

  const lose = (why: string): void => {
    if (ended.signal.aborted) return;
    work.abort(new ClaimLost(why));
    lost.abort(new ClaimLost(why));
  };
  const heard = ({ wanted }: Pick<ClaimStanding, 'wanted'>, sentAt: number): void => {
    until = Math.max(until, sentAt + leaseMs);
    if (!wanted) work.abort(new Error('The work is not needed any more.'));
  };

  async function keep(): Promise<void> {
    let wait = leaseMs * renewAfter;
    while (!over.aborted) {
      await pause(clock, Math.max(minMs, Math.min(wait, until - clock.now())), over);
      if (over.aborted) return;
      const sentAt = clock.now();
      try {
        const request = { deadline: until, signal: over };
        // Undefined when the lease expires before the answer.
        const standing = await withTimeout(
          clock,
          Math.max(0, until - clock.now()),
          (late) => Promise.race([renew(request), untilAborted(late)]),
          over,
        );
        if (over.aborted) return;
        if (!standing) return lose('its renewal was not answered in time.');
        heard(standing, sentAt);
        wait = leaseMs * renewAfter;
      } catch (error) {
        if (over.aborted) return;
        if (isOver(error)) return lose(error.detail ?? error.message);
        if (!(error instanceof ServiceError)) throw error;
        wait = minMs;
        if (clock.now() >= until) return lose(`it could not be renewed in time (${error.message})`);
      }
    }
  }
  const renewing = keep();

  return {
    /** Aborts when the work has to end: with a `ClaimLost` if another listener may have it, else to be undone. */
    signal: work.signal,
    lost: lost.signal,
    check(): void {
      // A process that stood still finds its timers late, and what it was at before them.
      if (clock.now() >= until) lose('its time ran out before it was renewed.');
      lost.signal.throwIfAborted();
    },
    /** Extends the lease, from when the answered request was sent (ms). */
    heard,
    /** The service refused a report. */
    refused(error: ServiceError): void {
      if (isOver(error)) lose(error.detail ?? error.message);
    },
    /** Ends the work on it, for a reason of our own. */
    giveUp: lose,
    async end(): Promise<void> {
      ended.abort();
      await renewing;
    },
  } satisfies WorkLease & Record<string, unknown>;
}
export type Lease = ReturnType<typeof keepLease>;
