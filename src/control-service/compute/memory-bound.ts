import type { DeploymentType } from '../../contract/control/source.ts';
import { resolvedResources } from '../rules/resolved-resources.ts';
import type { AgentSpec } from './compute.ts';

/** MB that an agent may take on this machine where no `resource_spec` says otherwise (our choice). */
const byType: Readonly<Record<DeploymentType, number>> = { dev_free: 512, dev: 1_024, prod: 2_048 };

/** How much memory an agent may take. */
export interface MemoryBound {
  /** All of its processes together, in MB. */
  totalMb: number;
  /** What its JavaScript objects may take of that, in MB: the rest is for buffers, code and what it starts. */
  heapMb: number;
}

/** The bound of a revision's agent: `memory_limit_mb` with its default, else what its `deployment_type` gets; null is `prod`. */
export function memoryBound({
  resourceSpec,
  deploymentType,
}: Pick<AgentSpec, 'resourceSpec' | 'deploymentType'>): MemoryBound {
  const totalMb = resolvedResources(resourceSpec).agent.memoryLimitMb ?? byType[deploymentType ?? 'prod'];
  return { totalMb, heapMb: Math.max(Math.floor(totalMb * 0.75), 1) };
}
