/** A compute on a fake cluster of its own, with a fast clock. */
// Loading takes a while, which should not count as the start of a test.
import '@kubernetes/client-node';
import type { Clock } from '../../../../src/kit/clock.ts';
import type { AgentSpec, AgentStart, WorkLease } from '../../../../src/services/control/compute/compute.ts';
import {
  kubernetesCompute,
  type KubernetesCompute,
  type KubernetesComputeDependencies,
} from '../../../../src/services/control/compute/kubernetes-compute.ts';
import { startApiServer, type ApiServer } from './api-server.ts';
import { inputOf } from './inputs.ts';

/** A clock that runs faster by a factor. */
export function hurried(times: number): Clock {
  const started = Date.now();
  return {
    now: () => started + (Date.now() - started) * times,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = (): void => {
          clearTimeout(timer);
          reject(signal?.reason);
        };
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', stop);
          resolve();
        }, ms / times);
        signal?.addEventListener('abort', stop, { once: true });
      }),
  };
}

/**
 * What a compute works by in tests: an hour passes in some seconds, and an answer may still take seconds on a machine that
 * is busy with other tests.
 */
export const inHaste = (kubeconfig: string): KubernetesComputeDependencies => ({
  clock: hurried(100),
  kubeconfig,
  answerWithinMs: 500_000,
  rolloutWithinMs: 300_000,
  failureGraceMs: 10_000,
  goneWithinMs: 1_000_000,
});

/** A cluster with a compute that works in it. */
export interface Cluster {
  api: ApiServer;
  compute: KubernetesCompute;
  /** Every line of the deploy logs. */
  logged: string[];
  /** Starts a revision in the namespace team-a. */
  start: (spec?: Partial<AgentSpec>, signal?: AbortSignal, hold?: WorkLease) => Promise<AgentStart>;
  /** The names of a namespace's objects, by kind. */
  names: (namespace?: string) => string[];
}

/** Starts a cluster with the namespaces default and team-a, lets `use` work with it, and ends it. */
export async function withCluster(
  use: (cluster: Cluster) => Promise<void>,
  settings: Partial<KubernetesComputeDependencies> = {},
): Promise<void> {
  const api = await startApiServer(['default', 'team-a']);
  const logged: string[] = [];
  const compute = kubernetesCompute({ ...inHaste(api.kubeconfig), ...settings });
  try {
    await use({
      api,
      compute,
      logged,
      start: (spec = {}, signal = new AbortController().signal, hold) =>
        compute.start(specOf(spec, logged), signal, hold),
      names: (namespace = 'team-a') =>
        ['secrets', 'persistentvolumeclaims', 'services', 'statefulsets', 'deployments', 'horizontalpodautoscalers']
          .flatMap((resource) => api.state.list(resource, namespace))
          .map(({ kind, metadata }) => `${kind} ${metadata.name.replace('support-agent-0c0ffee0', '*')}`),
    });
  } finally {
    await api.close();
  }
}

/** What it takes to run a revision of the deployment of these tests. */
export function specOf(changes: Partial<AgentSpec>, logged: string[]): AgentSpec {
  return {
    ...inputOf().spec,
    program: { kind: 'image', imageUri: 'registry.example.com/agent:1' },
    deploymentType: undefined,
    namespace: 'team-a',
    log: (level, message) => void logged.push(`${level} ${message}`),
    ...changes,
  };
}

/** The ids of a deployment's revisions, in order. */
export const revisions = [1, 2, 3].map((number) => `9a8b7c6d-0000-4000-8000-0000beef000${number}`);

/** Why a start failed. */
export function reasonOf(start: AgentStart): string {
  if (start.kind === 'running') throw new Error('the start did not fail');
  return start.reason;
}
