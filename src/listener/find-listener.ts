import { isDeepStrictEqual } from 'node:util';
import { entriesOf } from '../contract/control/pages.ts';
import { asSentence } from '../contract/plain-text.ts';
import { pause, type Clock } from '../clock.ts';
import type { Listener } from '../contract/control/listener.ts';
import { ServiceError } from '../contract/service-error.ts';
import { retryDelayMs } from './retry-delay.ts';
import { isForGood } from './listener.ts';
import type { WorkClient } from './work-client.ts';

export interface WantedListener {
  /** The name of the cluster, unique within the tenant. */
  computeId: string;
  /** The namespaces that it is to be configured for; undefined leaves them as they are. */
  namespaces: readonly string[] | undefined;
  version: string;
}

/**
 * Finds the listener of a cluster, or creates it; if several processes start together, one creates it and all find it.
 * Updates its namespaces if `namespaces` is given.
 */
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
  const listeners = entriesOf(async (page) => ({ resources: await work.listListeners(page) }));
  for await (const listener of listeners) if (listener.compute_id === computeId) return listener;
  return undefined;
}

/** The same as often as it takes; undefined when `leaving` aborts first. What does not pass by waiting is thrown. */
export async function findListenerWithRetries(
  work: WorkClient,
  wanted: WantedListener,
  {
    clock,
    random,
    log,
    leaving,
  }: { clock: Clock; random: () => number; log: (message: string) => void; leaving: AbortSignal },
): Promise<Listener | undefined> {
  for (let failures = 1; !leaving.aborted; failures += 1) {
    try {
      return await findListener(work, wanted);
    } catch (error) {
      if (!(error instanceof ServiceError) || isForGood(error) || error.kind === 'conflict') throw error;
      if (failures === 1) log(`${asSentence(error.message)} Trying again until it answers.`);
      await pause(clock, retryDelayMs(failures, random(), error.retryAfterMs), leaving);
    }
  }
  return undefined;
}
