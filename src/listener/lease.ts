import { pause, type Clock } from '../clock.ts';
import type { ClaimStanding } from '../contract/control/listener-work.ts';
import { ServiceError } from '../contract/service-error.ts';
import { LetGo, type Hold } from '../control-service/compute/compute.ts';

export interface LeaseSettings {
  leaseMs: number;
  /** Says at the service that the claim is still held. */
  renew: (until: { deadline: number; signal: AbortSignal }) => Promise<ClaimStanding>;
  clock: Clock;
}

/** A claim that is kept alive. */
export interface Lease extends Hold {
  /**
   * Aborts when the work has to end: with a `LetGo` if another listener may have it by now, with another reason if
   * it is not needed any more and has to be undone.
   */
  signal: AbortSignal;
  /** The service said something at a request that was sent at this moment (ms): the claim holds from then on. */
  heard(standing: Pick<ClaimStanding, 'wanted'>, sentAt: number): void;
  /** The service refused what was said under the claim. */
  refused(error: ServiceError): void;
  /** Lets go of it at once, for a reason of our own. */
  letGo(why: string): void;
  /** Keeps it alive no longer. */
  end(): Promise<void>;
}

/** Of the lease's time, after how much it is renewed. */
const renewAfter = 1 / 3;
/** The least between two attempts (ms). */
const leastMs = 200;

/** The word of a service that knows the claim no more. */
const isOver = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.kind === 'conflict' || error.kind === 'missing');

/**
 * Keeps a claim alive from now on. By this side's own clock it ends before the service may hand it to anybody else: it is
 * counted from the moment at which the last request that was answered was sent.
 *
 * @param heldSince when the request was sent that the service answered first (ms).
 */
export function keepLease({ leaseMs, renew, clock }: LeaseSettings, heldSince: number): Lease {
  const work = new AbortController();
  const lost = new AbortController();
  const ended = new AbortController();
  const over = AbortSignal.any([lost.signal, ended.signal]);
  let until = heldSince + leaseMs;

  const lose = (why: string): void => {
    if (ended.signal.aborted) return;
    work.abort(new LetGo(why));
    lost.abort(new LetGo(why));
  };
  const heard = ({ wanted }: Pick<ClaimStanding, 'wanted'>, sentAt: number): void => {
    until = Math.max(until, sentAt + leaseMs);
    if (!wanted) work.abort(new Error('The work is not needed any more.'));
  };

  async function keep(): Promise<void> {
    let wait = leaseMs * renewAfter;
    while (!over.aborted) {
      await pause(clock, Math.max(leastMs, Math.min(wait, until - clock.now())), over);
      if (over.aborted) return;
      const sentAt = clock.now();
      try {
        const standing = await inTime(renew({ deadline: until, signal: over }));
        if (over.aborted) return;
        if (!standing) return lose('its renewal was not answered in time.');
        heard(standing, sentAt);
        wait = leaseMs * renewAfter;
      } catch (error) {
        if (over.aborted) return;
        if (isOver(error)) return lose(error.detail ?? error.message);
        if (!(error instanceof ServiceError)) throw error;
        wait = leastMs;
        if (clock.now() >= until) return lose(`it could not be renewed in time (${error.message})`);
      }
    }
  }
  /** Whatever keeps an answer back, the lease does not wait for it. */
  async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
    const answered = new AbortController();
    const late = pause(clock, Math.max(0, until - clock.now()), AbortSignal.any([over, answered.signal]));
    try {
      return await Promise.race([answer, late.then(() => undefined)]);
    } finally {
      answered.abort();
    }
  }
  const retention = keep();

  return {
    signal: work.signal,
    lost: lost.signal,
    check() {
      // A process that stood still finds its timers late, and what it was at before them.
      if (clock.now() >= until) lose('its time ran out before it was renewed.');
      lost.signal.throwIfAborted();
    },
    heard,
    refused(error) {
      if (isOver(error)) lose(error.detail ?? error.message);
    },
    letGo: lose,
    async end() {
      ended.abort();
      await retention;
    },
  };
}
