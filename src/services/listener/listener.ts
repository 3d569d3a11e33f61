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

interface ListenerSettings extends Omit<ClaimDependencies, 'stopping'> {
  /** The name of this process, shown to people. */
  holder: string;
  atOnce: number;
  /** How long a claim holds without a renewal (s). */
  leaseSeconds: number;
}

/** Claims the work of a listener until `stop`, which releases its claims, or a permanent error, with which `ended` resolves. */
export function startListener(settings: ListenerSettings) {
  const { work, listenerId, holder, atOnce, leaseSeconds, clock, random, log } = settings;
  const stopping = new AbortController();
  const slots = createSemaphore(atOnce);
  const tasks = new Set<Promise<void>>();

  function performInBackground(claim: WorkClaim, release: () => void): void {
    const task: Promise<void> = performClaim(claim, { ...settings, stopping: stopping.signal })
      .catch((error: unknown) => {
        log.error(`The work on ${claim.deployment.name} broke down: ${stackOf(error)}`);
      })
      .finally(() => {
        tasks.delete(task);
        release();
      });
    tasks.add(task);
  }

  async function claimUntilStopped(): Promise<string | undefined> {
    const request = { holder, wait_seconds: maxClaimWait, lease_seconds: leaseSeconds };
    for (let failures = 0; !stopping.signal.aborted;) {
      const release = await slots.take(stopping.signal);
      if (!release) return undefined;
      try {
        const claim = await work.claim(listenerId, request, { signal: stopping.signal });
        if (failures > 0) log.info('The control service answers again.');
        failures = 0;
        if (claim) performInBackground(claim, release);
        else release();
      } catch (error) {
        release();
        if (stopping.signal.aborted) return undefined;
        if (!(error instanceof ServiceError)) throw error;
        if (isPermanent(error)) return error.message;
        failures += 1;
        if (failures === 1) log.warn(`${asSentence(error.message)} Trying again until it answers.`);
        await pause(clock, retryDelayMs(failures, random(), error.retryAfterMs), stopping.signal);
      }
    }
    return undefined;
  }

  async function run(): Promise<string | undefined> {
    try {
      return await claimUntilStopped();
    } finally {
      stopping.abort();
      await Promise.all(tasks);
    }
  }

  return { ended: run(), stop: () => stopping.abort() };
}
export type RunningListener = ReturnType<typeof startListener>;

/** Whether retrying is useless: an invalid key, a deleted listener, a rejected request. */
const isPermanent = ({ kind }: ServiceError): boolean =>
  kind === 'unauthorized' || kind === 'missing' || kind === 'rejected';

interface ListenerRequest {
  /** The name of the cluster, unique within the tenant. */
  computeId: string;
  /** Undefined keeps those of an existing listener. */
  namespaces: readonly string[] | undefined;
  version: string;
}

/** Finds the listener of a cluster, or creates it once, and updates its namespaces if `namespaces` is given. */
export async function findListener(
  work: WorkClient,
  { computeId, namespaces, version }: ListenerRequest,
): Promise<Listener> {
  const wanted = { version, ...(namespaces ? { compute_config: { k8s_namespaces: [...namespaces] } } : {}) };
  const found = await findByComputeId(work, computeId);
  if (!found) {
    try {
      return await work.createListener({ compute_config: {}, ...wanted, compute_type: 'k8s', compute_id: computeId });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'conflict') throw error;
      const another = await findByComputeId(work, computeId);
      if (!another) throw error;
      return another;
    }
  }
  const hasNamespaces = !namespaces || isDeepStrictEqual(found.compute_config?.k8s_namespaces ?? [], [...namespaces]);
  return found.version === version && hasNamespaces ? found : work.patchListener(found.id, wanted);
}

async function findByComputeId(work: WorkClient, computeId: string): Promise<Listener | undefined> {
  for await (const listener of entriesOf(work.listListeners)) if (listener.compute_id === computeId) return listener;
  return undefined;
}

/** The same with retries; undefined when `stopping` aborts first. Throws errors that are not retryable. */
export async function findListenerWithRetries(
  work: WorkClient,
  wanted: ListenerRequest,
  { clock, random, log, stopping }: { clock: Clock; random: () => number; log: Logger; stopping: AbortSignal },
): Promise<Listener | undefined> {
  for (let failures = 1; !stopping.aborted; failures += 1) {
    try {
      return await findListener(work, wanted);
    } catch (error) {
      if (!(error instanceof ServiceError) || isPermanent(error) || error.kind === 'conflict') throw error;
      if (failures === 1) log.warn(`${asSentence(error.message)} Trying again until it answers.`);
      await pause(clock, retryDelayMs(failures, random(), error.retryAfterMs), stopping);
    }
  }
  return undefined;
}
