import {
  unusedResourceFields,
  withResourceDefaults,
  type ResourceSpec,
} from '../../../../contract/control/resource-spec.ts';

/** The requests and limits of one replica: CPU in cores, memory in MB. Undefined: not set. */
export type ResolvedShare = ReturnType<typeof shareOf>;
/** The resources of each replica, and the number of replicas. */
export type ResolvedReplicas = ReturnType<typeof replicasOf>;
/** The values of a ResourceSpec with every default filled in. */
export type ResolvedResources = ReturnType<typeof resolvedResources>;

/** The effective resources of a deployment. A default that depends on an open field stays open too. */
export function resolvedResources(spec: ResourceSpec = {}) {
  const filled = withResourceDefaults(spec);
  const isSet = (prefix: string): boolean =>
    Object.entries(spec).some(([field, value]) => field.startsWith(prefix) && value != null);
  return {
    agent: replicasOf(filled, ''),
    queue: replicasOf(filled, 'queue_'),
    /** Whether a field of the queue was set: otherwise the agent's own replicas do its work. */
    hasQueue: isSet('queue_'),
    cache: shareOf(filled, 'cache_'),
    hasCache: isSet('cache_'),
    database: {
      ...shareOf(filled, 'db_'),
      storageGi: filled.db_storage_gi ?? undefined,
      maxConnections: filled.db_max_connections ?? undefined,
    },
    hasDatabase: isSet('db_'),
    /** The fields marked "do not use" that are set: they have no effect. */
    ignored: unusedResourceFields.filter((field) => spec[field] != null),
  };
}

const shareOf = (spec: ResourceSpec, prefix: '' | 'queue_' | 'cache_' | 'db_') => ({
  cpu: spec[`${prefix}cpu`] ?? undefined,
  cpuLimit: spec[`${prefix}cpu_limit`] ?? undefined,
  memoryMb: spec[`${prefix}memory_mb`] ?? undefined,
  memoryLimitMb: spec[`${prefix}memory_limit_mb`] ?? undefined,
});

const replicasOf = (spec: ResourceSpec, prefix: '' | 'queue_') => ({
  ...shareOf(spec, prefix),
  minScale: spec[`${prefix}min_scale`] ?? undefined,
  maxScale: spec[`${prefix}max_scale`] ?? undefined,
});
