import { asSentence } from '../contract/plain-text.ts';
import { stackOf } from '../errors.ts';
import { pause } from '../clock.ts';
import { longestClaimWait } from '../contract/control/listener-work.ts';
import type { WorkClaim } from '../contract/control/listener-work.ts';
import { ServiceError } from '../contract/service-error.ts';
import { slots } from '../control-service/rollouts/slots.ts';
import { retryDelayMs } from './retry-delay.ts';
import { carryOutClaim, type CarryOutSettings } from './carry-out-claim.ts';

export interface ListenerSettings extends Omit<CarryOutSettings, 'leaving'> {
  /** The name of this process, for people. */
  holder: string;
  /** Pieces of work that are carried out at the same time. */
  atOnce: number;
  /** How long a claim holds without a word (s). */
  leaseSeconds: number;
}

/** A listener at work. */
export interface RunningListener {
  /** Resolves when it ends: with the reason why it could not continue, or undefined after a stop. */
  ended: Promise<string | undefined>;
  /** Takes no more work, and hands back what it is at as it stands. */
  leave(): void;
}

/** Starts to claim the work of a listener, until it is stopped or rejected. */
export function startListener(settings: ListenerSettings): RunningListener {
  const { work, listenerId, holder, atOnce, leaseSeconds, clock, random, log } = settings;
  const leaving = new AbortController();
  const free = slots(atOnce);
  const working = new Set<Promise<void>>();

  function inBackground(claim: WorkClaim, giveBack: () => void): void {
    const kept: Promise<void> = carryOutClaim(claim, { ...settings, leaving: leaving.signal })
      .catch((error: unknown) => {
        log(`The work on ${claim.deployment.name} broke down: ${stackOf(error)}`);
      })
      .finally(() => {
        working.delete(kept);
        giveBack();
      });
    working.add(kept);
  }

  async function take(): Promise<string | undefined> {
    const request = { holder, wait_seconds: longestClaimWait, lease_seconds: leaseSeconds };
    for (let failures = 0; !leaving.signal.aborted;) {
      const giveBack = await free.take(leaving.signal);
      if (!giveBack) return undefined;
      try {
        const claim = await work.claim(listenerId, request, { signal: leaving.signal });
        if (failures > 0) log('The control service answers again.');
        failures = 0;
        if (claim) inBackground(claim, giveBack);
        else giveBack();
      } catch (error) {
        giveBack();
        if (leaving.signal.aborted) return undefined;
        if (!(error instanceof ServiceError)) throw error;
        if (isForGood(error)) return error.message;
        failures += 1;
        if (failures === 1) log(`${asSentence(error.message)} Trying again until it answers.`);
        await pause(clock, retryDelayMs(failures, random(), error.retryAfterMs), leaving.signal);
      }
    }
    return undefined;
  }

  async function untilOver(): Promise<string | undefined> {
    try {
      return await take();
    } finally {
      leaving.abort();
      await Promise.all(working);
    }
  }

  return { ended: untilOver(), leave: () => leaving.abort() };
}

/** What does not pass by waiting: a key that is not let in, a listener that is gone, a request that is not understood. */
export const isForGood = ({ kind }: ServiceError): boolean =>
  kind === 'unauthorized' || kind === 'missing' || kind === 'rejected';
