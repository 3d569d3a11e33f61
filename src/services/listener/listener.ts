import { asSentence } from '../../kit/plain-text.ts';
import { stackOf } from '../../kit/errors.ts';
import { pause, type Clock } from '../../kit/clock.ts';
import { maxClaimWait, type WorkClaim } from '../../contract/control/listener-work.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { createSemaphore } from '../control/rollouts/semaphore.ts';
import { retryDelayMs, type WorkClient } from './work-client.ts';
import { performClaim, type ClaimDependencies } from './perform-claim.ts';
import { isDeepStrictEqual } from 'node:util';
import { entriesOf } from '../../contract/control/pages.ts';
import type { Listener } from '../../contract/control/listener.ts';
import type { Logger } from '../../kit/logger.ts';

interface ListenerSettings extends Omit<ClaimDependencies, 'leaving'> {
  /** The name of this process, for people. */
  holder: string;
  atOnce: number;
  /** How long a claim holds without a renewal (s). */
  leaseSeconds: number;
}

/** Claims the work of a listener until `leave`, which releases its claims, or a rejection, with which `ended` resolves. */
export function startListener(settings: ListenerSettings) {
  const { work, listenerId, holder, atOnce, leaseSeconds, clock, random, log } = settings;
  const leaving = new AbortController();
  const free = createSemaphore(atOnce);
  const working = new Set<Promise<void>>();

  function inBackground(claim: WorkClaim, giveBack: () => void): void {
    const kept: Promise<void> = performClaim(claim, { ...settings, leaving: leaving.signal })
      .catch((error: unknown) => {
        log.error(`The work on ${claim.deployment.name} broke down: ${stackOf(error)}`);
      })
      .finally(() => {
        working.delete(kept);
        giveBack();
      });
    working.add(kept);
  }

  async function take(): Promise<string | undefined> {
    const request = { holder, wait_seconds: maxClaimWait, lease_seconds: leaseSeconds };
    for (let failures = 0; !leaving.signal.aborted;) {
      const giveBack = await free.take(leaving.signal);
      if (!giveBack) return undefined;
      try {
        const claim = await work.claim(listenerId, request, { signal: leaving.signal });
        if (failures > 0) log.info('The control service answers again.');
        failures = 0;
        if (claim) inBackground(claim, giveBack);
        else giveBack();
      } catch (error) {
        giveBack();
        if (leaving.signal.aborted) return undefined;
        if (!(error instanceof ServiceError)) throw error;
        if (isForGood(error)) return error.message;
        failures += 1;
        if (failures === 1) log.warn(`${asSentence(error.message)} Trying again until it answers.`);
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
export type RunningListener = ReturnType<typeof startListener>;

/** Not retryable: an invalid key, a deleted listener, a rejected request. */
const isForGood = ({ kind }: ServiceError): boolean =>
  kind === 'unauthorized' || kind === 'missing' || kind === 'rejected';

interface WantedListener {
  /** The name of the cluster, unique within the tenant. */
  computeId: string;
  /** Undefined leaves those of an existing listener. */
  namespaces: readonly string[] | undefined;
  version: string;
}

/** Finds the listener of a cluster, or creates it once, and updates its namespaces if `namespaces` is given. */
export async function findListener(
  work: WorkClient,
  { computeId, namespaces, version }: WantedListener,
): Promise<Listener> {
  const wanted = { version, ...(namespaces ? { compute_config: { k8s_namespaces: [...namespaces] } } : {}) };
  const found = await listenerOf(work, computeId);
  if (!found) {
    try {
      return await work.createListener({ compute_config: {}, ...wanted, compute_type: 'k8s', compute_id: computeId });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'conflict') throw error;
      const another = await listenerOf(work, computeId);
      if (!another) throw error;
      return another;
    }
  }
  const hasNamespaces = !namespaces || isDeepStrictEqual(found.compute_config?.k8s_namespaces ?? [], [...namespaces]);
  return found.version === version && hasNamespaces ? found : work.patchListener(found.id, wanted);
}

async function listenerOf(work: WorkClient, computeId: string): Promise<Listener | undefined> {
  for await (const listener of entriesOf(work.listListeners)) if (listener.compute_id === computeId) return listener;
  return undefined;
}

/** The same with retries; undefined when `leaving` aborts first. Throws errors that are not retryable. */
export async function findListenerWithRetries(
  work: WorkClient,
  wanted: WantedListener,
  { clock, random, log, leaving }: { clock: Clock; random: () => number; log: Logger; leaving: AbortSignal },
): Promise<Listener | undefined> {
  for (let failures = 1; !leaving.aborted; failures += 1) {
    try {
      return await findListener(work, wanted);
    } catch (error) {
      if (!(error instanceof ServiceError) || isForGood(error) || error.kind === 'conflict') throw error;
      if (failures === 1) log.warn(`${asSentence(error.message)} Trying again until it answers.`);
      await pause(clock, retryDelayMs(failures, random(), error.retryAfterMs), leaving);
    }
  }
  return undefined;
}
