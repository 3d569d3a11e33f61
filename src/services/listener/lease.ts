import { pause, untilAborted, withTimeout, type Clock } from '../../kit/clock.ts';
import type { ClaimStanding } from '../../contract/control/listener-work.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { ClaimLost, type WorkLease } from '../control/compute/compute.ts';

interface LeaseDependencies {
  leaseMs: number;
  renew: (until: { deadline: number; signal: AbortSignal }) => Promise<ClaimStanding>;
  clock: Clock;
}

const renewalShare = 1 / 3;
const minWaitMs = 200;

const isClaimOver = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.kind === 'conflict' || error.kind === 'missing');

/**
 * Renews a claim from now on. By this side's clock, the lease ends before the service may give the work to another
 * holder: it counts from the sending of the last request that the service has answered.
 *
 * @param heldSince when the first answered request was sent (ms).
 */
export function keepLease({ leaseMs, renew, clock }: LeaseDependencies, heldSince: number) {
  const work = new AbortController();
  const lost = new AbortController();
  const ended = new AbortController();
  const over = AbortSignal.any([lost.signal, ended.signal]);
  let expiresAt = heldSince + leaseMs;

  const lose = (reason: string): void => {
    if (ended.signal.aborted) return;
    work.abort(new ClaimLost(reason));
    lost.abort(new ClaimLost(reason));
  };
  const extend = ({ wanted }: Pick<ClaimStanding, 'wanted'>, sentAt: number): void => {
    expiresAt = Math.max(expiresAt, sentAt + leaseMs);
    if (!wanted) work.abort(new Error('The work is not needed any more.'));
  };

  async function renewUntilOver(): Promise<void> {
    let waitMs = leaseMs * renewalShare;
    while (!over.aborted) {
      await pause(clock, Math.max(minWaitMs, Math.min(waitMs, expiresAt - clock.now())), over);
      if (over.aborted) return;
      const sentAt = clock.now();
      try {
        const request = { deadline: expiresAt, signal: over };
        // Undefined when the lease expires before the response.
        const standing = await withTimeout(
          clock,
          Math.max(0, expiresAt - clock.now()),
          (late) => Promise.race([renew(request), untilAborted(late)]),
          over,
        );
        if (over.aborted) return;
        if (!standing) return lose('its renewal was not answered in time.');
        extend(standing, sentAt);
        waitMs = leaseMs * renewalShare;
      } catch (error) {
        if (over.aborted) return;
        if (isClaimOver(error)) return lose(error.detail ?? error.message);
        if (!(error instanceof ServiceError)) throw error;
        waitMs = minWaitMs;
        if (clock.now() >= expiresAt) return lose(`it could not be renewed in time (${error.message})`);
      }
    }
  }
  const renewing = renewUntilOver();

  return {
    /** Aborts when the work has to end: with a `ClaimLost` where another listener may have it; otherwise undo it. */
    signal: work.signal,
    lost: lost.signal,
    check(): void {
      // After the process was suspended, this may run before the timers that would have noticed the expiry.
      if (clock.now() >= expiresAt) lose('its time ran out before it was renewed.');
      lost.signal.throwIfAborted();
    },
    /** Extends the lease from the sending of an answered request (ms). */
    extend,
    /** Call when the service has refused a report. */
    refused(error: ServiceError): void {
      if (isClaimOver(error)) lose(error.detail ?? error.message);
    },
    /** Gives the claim up, for a reason of this side. */
    giveUp: lose,
    async end(): Promise<void> {
      ended.abort();
      await renewing;
    },
  } satisfies WorkLease & Record<string, unknown>;
}
export type Lease = ReturnType<typeof keepLease>;
