import type { DeploymentType } from '../../../contract/control/source.ts';
import { resolvedResources } from '../deployments/validation/resolved-resources.ts';
import type { AgentSpec } from './compute.ts';
import { unlessCode } from '../../../kit/errors.ts';
import { pause, type Clock } from '../../../kit/clock.ts';
import type { ProcessFamily } from './process-family.ts';
import { listProcesses } from './process-list.ts';

/** The default limit of an agent's memory on this machine, in MB (our choice). */
const defaultMb: Readonly<Record<DeploymentType, number>> = { dev_free: 512, dev: 1_024, prod: 2_048 };

/** A MB in bytes, for processes, containers and clusters alike: the contract uses MB beside GiB. */
export const megabyte = 1_000_000;
const mebibyte = 1_048_576;

export interface MemoryBound {
  /** The limit of all its processes together, in MB. */
  totalMb: number;
  /** The limit of its JavaScript heap, in MiB as Node.js expects. The rest is for buffers, code and child processes. */
  heapMib: number;
}

/** The limit of a revision's agent: `memory_limit_mb` with its default, else by `deployment_type`; null is `prod`. */
export function memoryBound(spec: Pick<AgentSpec, 'resourceSpec' | 'deploymentType'>): MemoryBound {
  const totalMb = resolvedResources(spec.resourceSpec).agent.memoryLimitMb ?? defaultMb[spec.deploymentType ?? 'prod'];
  return { totalMb, heapMib: Math.max(Math.floor((totalMb * megabyte * 0.75) / mebibyte), 1) };
}

const intervalMs = 1_000;

type MeasuredFamily = Pick<ProcessFamily, 'usage'>;

/** Measures the memory of all watched agents in one scan per second. */
export function memoryWatch(clock: Clock, list: typeof listProcesses = listProcesses) {
  const limits = new Map<MeasuredFamily, { maxBytes: number; onExcess: (usedBytes: number) => void }>();
  let watching: Promise<void> | undefined;

  async function watchAll(): Promise<void> {
    while (limits.size > 0) {
      await pause(clock, intervalMs);
      // Skip a scan while the machine lacks file descriptors or memory.
      const processes = unlessCode(['EMFILE', 'ENFILE', 'ENOMEM', 'EIO'], [], list);
      for (const [family, bound] of limits) {
        const { memoryBytes } = family.usage(processes);
        if (memoryBytes <= bound.maxBytes) continue;
        limits.delete(family);
        bound.onExcess(memoryBytes);
      }
    }
    watching = undefined;
  }

  return {
    /** Watches one agent until the signal aborts; calls `onExcess` once, when its memory exceeds `maxBytes`. */
    watch(family: MeasuredFamily, maxBytes: number, onExcess: (usedBytes: number) => void, signal: AbortSignal): void {
      if (signal.aborted) return;
      limits.set(family, { maxBytes, onExcess });
      signal.addEventListener('abort', () => limits.delete(family), { once: true });
      watching ??= watchAll();
    },
  };
}
export type MemoryWatch = ReturnType<typeof memoryWatch>;
