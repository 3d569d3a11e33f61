import type { DeploymentType } from '../../contract/control/source.ts';
import { resolvedResources } from '../deployments/validation/resolved-resources.ts';
import type { AgentSpec } from './compute.ts';

/** The default limit of an agent's memory on this machine, in MB (our choice). */
const byType: Readonly<Record<DeploymentType, number>> = { dev_free: 512, dev: 1_024, prod: 2_048 };

/** A MB in bytes: the document uses MB beside GiB. The same for processes, containers and clusters. */
export const megabyte = 1_000_000;
const mebibyte = 1_048_576;

/** The memory limit of an agent. */
export interface MemoryBound {
  /** All of its processes together, in MB. */
  totalMb: number;
  /** The limit of its JavaScript heap, in MiB as Node.js expects: the rest is for buffers, code and child processes. */
  heapMib: number;
}

/** The limit of a revision's agent: `memory_limit_mb` with its default, else by `deployment_type`; null is `prod`. */
export function memoryBound({
  resourceSpec,
  deploymentType,
}: Pick<AgentSpec, 'resourceSpec' | 'deploymentType'>): MemoryBound {
  const totalMb = resolvedResources(resourceSpec).agent.memoryLimitMb ?? byType[deploymentType ?? 'prod'];
  return { totalMb, heapMib: Math.max(Math.floor((totalMb * megabyte * 0.75) / mebibyte), 1) };
}
