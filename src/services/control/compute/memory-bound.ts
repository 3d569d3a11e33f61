import type { DeploymentType } from '../../../contract/control/source.ts';
import { resolvedResources } from '../deployments/validation/resolved-resources.ts';
import type { AgentSpec } from './compute.ts';
import { unlessCode } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import type { ProcessFamily } from './process-family.ts';
import { listProcesses } from './process-list.ts';

/** The default limit of an agent's memory on this machine, in MB (our choice). */
const byType: Readonly<Record<DeploymentType, number>> = { dev_free: 512, dev: 1_024, prod: 2_048 };

/** A MB in bytes: the document uses MB beside GiB. The same for processes, containers and clusters. */
export const megabyte = 1_000_000;
const mebibyte = 1_048_576;

export interface MemoryBound {
  /** All of its processes together, in MB. */
  totalMb: number;
  /** The limit of its JavaScript heap, in MiB as Node.js expects: the rest is for buffers, code and child processes. */
  heapMib: number;
}

/** The limit of a revision's agent: `memory_limit_mb` with its default, else by `deployment_type`; null is `prod`. */
export function memoryBound(spec: Pick<AgentSpec, 'resourceSpec' | 'deploymentType'>): MemoryBound {
  const totalMb = resolvedResources(spec.resourceSpec).agent.memoryLimitMb ?? byType[spec.deploymentType ?? 'prod'];
  return { totalMb, heapMib: Math.max(Math.floor((totalMb * megabyte * 0.75) / mebibyte), 1) };
}

const everyMs = 1_000;

type Measured = Pick<ProcessFamily, 'usage'>;

/** Measures the memory of all agents in one round, as long as there is something to watch. */
export function memoryWatch(clock: Clock, see: typeof listProcesses = listProcesses) {
  const watched = new Map<Measured, { maxBytes: number; over: (usedBytes: number) => void }>();
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    while (watched.size > 0) {
      await pause(clock, everyMs);
      // Skips a round without free file descriptors.
      const seen = unlessCode(['EMFILE', 'ENFILE', 'ENOMEM', 'EIO'], [], see);
      for (const [family, bound] of watched) {
        const { memoryBytes } = family.usage(seen);
        if (memoryBytes <= bound.maxBytes) continue;
        watched.delete(family);
        bound.over(memoryBytes);
      }
    }
    looking = undefined;
  }

  return {
    /** Watches one agent until the signal aborts; calls `over` once, when its private bytes exceed `maxBytes`. */
    watch(family: Measured, maxBytes: number, over: (usedBytes: number) => void, signal: AbortSignal): void {
      if (signal.aborted) return;
      watched.set(family, { maxBytes, over });
      signal.addEventListener('abort', () => watched.delete(family), { once: true });
      looking ??= look();
    },
  };
}
export type MemoryWatch = ReturnType<typeof memoryWatch>;
