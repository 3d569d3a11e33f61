import { unusedResourceFields, withResourceDefaults } from '../../../contract/control/resource-spec.ts';
import type { ResourceSpec } from '../../../contract/control/resource-spec.ts';

/** The requests and limits of one replica: CPU in cores, memory in MB. Undefined: not set. */
export interface ResolvedShare {
  cpu: number | undefined;
  cpuLimit: number | undefined;
  memoryMb: number | undefined;
  memoryLimitMb: number | undefined;
}

/** The resources of each replica, and the number of replicas. */
export interface ResolvedReplicas extends ResolvedShare {
  minScale: number | undefined;
  maxScale: number | undefined;
}

/** The values of a ResourceSpec with every default filled in. */
export interface ResolvedResources {
  agent: ResolvedReplicas;
  queue: ResolvedReplicas;
  /** Whether a field of the queue was set: otherwise the agent's own replicas do its work. */
  hasQueue: boolean;
  cache: ResolvedShare;
  hasCache: boolean;
  database: ResolvedShare & { storageGi: number | undefined; maxConnections: number | undefined };
  hasDatabase: boolean;
  /** The fields marked "do not use" that are set: they have no effect. */
  ignored: readonly (typeof unusedResourceFields)[number][];
}

/**
 * The effective resources of a deployment (control-service.md, ResourceSpec: bounds and defaults). A default that depends
 * on another field stays open where that one is open too.
 */
export function resolvedResources(spec: ResourceSpec | undefined): ResolvedResources {
  const requested = spec ?? {};
  const filled = withResourceDefaults(requested);
  const isSet = (prefix: string): boolean =>
    Object.entries(requested).some(([field, value]) => field.startsWith(prefix) && value != null);
  return {
    agent: {
      minScale: filled.min_scale ?? undefined,
      maxScale: filled.max_scale ?? undefined,
      cpu: filled.cpu ?? undefined,
      cpuLimit: filled.cpu_limit ?? undefined,
      memoryMb: filled.memory_mb ?? undefined,
      memoryLimitMb: filled.memory_limit_mb ?? undefined,
    },
    queue: {
      minScale: filled.queue_min_scale ?? undefined,
      maxScale: filled.queue_max_scale ?? undefined,
      cpu: filled.queue_cpu ?? undefined,
      cpuLimit: filled.queue_cpu_limit ?? undefined,
      memoryMb: filled.queue_memory_mb ?? undefined,
      memoryLimitMb: filled.queue_memory_limit_mb ?? undefined,
    },
    hasQueue: isSet('queue_'),
    cache: {
      cpu: filled.cache_cpu ?? undefined,
      cpuLimit: filled.cache_cpu_limit ?? undefined,
      memoryMb: filled.cache_memory_mb ?? undefined,
      memoryLimitMb: filled.cache_memory_limit_mb ?? undefined,
    },
    hasCache: isSet('cache_'),
    database: {
      cpu: filled.db_cpu ?? undefined,
      cpuLimit: filled.db_cpu_limit ?? undefined,
      memoryMb: filled.db_memory_mb ?? undefined,
      memoryLimitMb: filled.db_memory_limit_mb ?? undefined,
      storageGi: filled.db_storage_gi ?? undefined,
      maxConnections: filled.db_max_connections ?? undefined,
    },
    hasDatabase: isSet('db_'),
    ignored: unusedResourceFields.filter((field) => requested[field] != null),
  };
}
