import * as z from 'zod';
import { annotations, labels, objectName } from './cluster-names.ts';
import { container, volume, volumeMount } from './container.ts';

/** CPU is returned with one decimal place (docs/design/contract.md#resources). */
export const roundCpu = (cores: number): number => Math.round(cores * 10) / 10;

const cpuRequest = z.number().min(0.1).max(8).overwrite(roundCpu).nullish();
const cpuLimit = z.number().min(0.1).max(16).overwrite(roundCpu).nullish();
/** Cores without a bound in the specification. */
const cpu = z.number().min(0).overwrite(roundCpu).nullish();
/** The largest integer of Postgres. */
const maxInteger = 2_147_483_647;
const count = z.int().min(0).max(maxInteger).nullish();
const megabytes = count;

/** The fields that the specification marks "do not use": accepted, without effect. */
export const unusedResourceFields = [
  'orchestrator_cpu',
  'orchestrator_cpu_limit',
  'orchestrator_memory_mb',
  'orchestrator_memory_limit_mb',
  'orchestrator_min_scale',
  'orchestrator_max_scale',
  'executor_cpu',
  'executor_cpu_limit',
  'executor_memory_mb',
  'executor_memory_limit_mb',
] as const;

const shape = {
  min_scale: count,
  max_scale: count,
  cpu: cpuRequest,
  cpu_limit: cpuLimit,
  memory_mb: megabytes,
  memory_limit_mb: megabytes,
  queue_min_scale: count,
  queue_max_scale: count,
  queue_cpu: cpuRequest,
  queue_cpu_limit: cpuLimit,
  queue_memory_mb: megabytes,
  queue_memory_limit_mb: megabytes,
  orchestrator_cpu: cpu,
  orchestrator_cpu_limit: cpu,
  orchestrator_memory_mb: megabytes,
  orchestrator_memory_limit_mb: megabytes,
  orchestrator_min_scale: count,
  orchestrator_max_scale: count,
  executor_cpu: cpu,
  executor_cpu_limit: cpu,
  executor_memory_mb: megabytes,
  executor_memory_limit_mb: megabytes,
  cache_cpu: cpuRequest,
  cache_cpu_limit: cpuLimit,
  cache_memory_mb: megabytes,
  cache_memory_limit_mb: megabytes,
  labels: labels.nullish(),
  annotations: annotations.nullish(),
  service_account_name: objectName.nullish(),
  image_pull_secrets: z.array(z.strictObject({ name: objectName })).nullish(),
  volumes: z.array(volume).nullish(),
  volume_mounts: z.array(volumeMount).nullish(),
  init_containers: z.array(container).nullish(),
  sidecars: z.array(container).nullish(),
  db_cpu: cpu,
  db_cpu_limit: cpu,
  db_memory_mb: megabytes,
  db_memory_limit_mb: megabytes,
  db_storage_gi: count,
  db_max_connections: count,
};

export const resourceFields = z.strictObject(shape);

/**
 * What each replica gets (docs/design/contract.md#resources): CPU in cores, memory in MB, storage in GiB. Volume names
 * are unique, every mount names a volume, and container names are unique within the pod.
 */
export const resourceSpec = resourceFields.superRefine((spec, context) => {
  const volumes = new Set<string>();
  for (const [index, { name }] of (spec.volumes ?? []).entries()) {
    if (volumes.has(name)) {
      const message = `another volume is named ${name}`;
      context.addIssue({ code: 'custom', path: ['volumes', index, 'name'], message });
    }
    volumes.add(name);
  }
  const mounts: [path: (string | number)[], name: string][] = [];
  const containers = new Set<string>();
  for (const [index, { name }] of (spec.volume_mounts ?? []).entries()) {
    mounts.push([['volume_mounts', index, 'name'], name]);
  }
  for (const field of ['init_containers', 'sidecars'] as const) {
    for (const [index, { name, volumeMounts }] of (spec[field] ?? []).entries()) {
      if (containers.has(name)) {
        const message = `another container is named ${name}`;
        context.addIssue({ code: 'custom', path: [field, index, 'name'], message });
      }
      containers.add(name);
      for (const [at, mount] of (volumeMounts ?? []).entries()) {
        mounts.push([[field, index, 'volumeMounts', at, 'name'], mount.name]);
      }
    }
  }
  for (const [path, name] of mounts) {
    if (!volumes.has(name)) context.addIssue({ code: 'custom', path, message: `no volume is named ${name}` });
  }
});
export type ResourceSpec = z.infer<typeof resourceSpec>;

/** A resource_spec in a response: any fields are accepted and kept. */
export const resourceSpecReply = z.record(z.string(), z.unknown());

const defaultsInOrder = [
  ['cpu_limit', 'cpu', 2],
  ['memory_limit_mb', 'memory_mb', 2],
  ['queue_min_scale', 'min_scale', 1],
  ['queue_max_scale', 'max_scale', 1],
  ['queue_cpu', 'cpu', 1],
  ['queue_cpu_limit', 'queue_cpu', 2],
  ['queue_memory_mb', 'memory_mb', 1],
  ['queue_memory_limit_mb', 'queue_memory_mb', 2],
  ['cache_cpu_limit', 'cache_cpu', 2],
  ['cache_memory_limit_mb', 'cache_memory_mb', 1],
  ['db_cpu_limit', 'db_cpu', 2],
  ['db_memory_limit_mb', 'db_memory_mb', 2],
] as const;

/** The fields with a default, each after the one that it depends on. */
export const defaultedResourceFields = defaultsInOrder.map(([field]) => field);

/** Applies the defaults of the service (docs/design/contract.md#resources). */
export function withResourceDefaults(spec: ResourceSpec): ResourceSpec {
  const result = { ...spec };
  for (const [field, from, times] of defaultsInOrder) {
    const base = result[from];
    if (result[field] == null && base != null)
      result[field] = field.includes('cpu') ? roundCpu(base * times) : base * times;
  }
  return result;
}
