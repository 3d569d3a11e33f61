import { expect, test } from 'vitest';
import { unusedResourceFields } from '../../../../src/contract/control/resource-spec.ts';
import type { ResourceSpec } from '../../../../src/contract/control/resource-spec.ts';
import { resolvedResources } from '../../../../src/services/control/deployments/validation/resolved-resources.ts';
import type { ResolvedResources } from '../../../../src/services/control/deployments/validation/resolved-resources.ts';

const open = { cpu: undefined, cpuLimit: undefined, memoryMb: undefined, memoryLimitMb: undefined };
const openReplicas = { ...open, minScale: undefined, maxScale: undefined };
const nothing: ResolvedResources = {
  agent: openReplicas,
  queue: openReplicas,
  hasQueue: false,
  cache: open,
  hasCache: false,
  database: { ...open, storageGi: undefined, maxConnections: undefined },
  hasDatabase: false,
  ignored: [],
};

test.each<[string, ResourceSpec, (of: ResolvedResources) => unknown, unknown]>([
  ['the limit of the CPU is twice the request', { cpu: 1.5 }, ({ agent }) => agent.cpuLimit, 3],
  ['so is that of the memory', { memory_mb: 700 }, ({ agent }) => agent.memoryLimitMb, 1400],
  [
    'a limit that is set holds',
    { cpu: 1, cpu_limit: 1.2, memory_mb: 5, memory_limit_mb: 6 },
    (of) => of.agent,
    {
      ...openReplicas,
      cpu: 1,
      cpuLimit: 1.2,
      memoryMb: 5,
      memoryLimitMb: 6,
    },
  ],
  ['a limit alone says nothing of the request', { cpu_limit: 4 }, (of) => of.agent, { ...openReplicas, cpuLimit: 4 }],
  ['twice a tenth is two tenths', { cpu: 0.1 }, ({ agent }) => agent.cpuLimit, 0.2],
  ['thirds stay at one decimal', { cpu: 0.3 }, ({ agent }) => agent.cpuLimit, 0.6],
  [
    'the queue has the scale, CPU and memory of the agent',
    { min_scale: 1, max_scale: 3, cpu: 2, memory_mb: 512 },
    ({ queue }) => queue,
    { minScale: 1, maxScale: 3, cpu: 2, cpuLimit: 4, memoryMb: 512, memoryLimitMb: 1024 },
  ],
  [
    "the queue's limits come from the queue's own requests",
    { cpu: 2, cpu_limit: 9, queue_cpu: 0.5, queue_memory_mb: 100 },
    ({ queue }) => queue,
    { ...openReplicas, cpu: 0.5, cpuLimit: 1, memoryMb: 100, memoryLimitMb: 200 },
  ],
  ["the agent's own limit is not the queue's", { cpu: 2, cpu_limit: 2.5 }, ({ queue }) => queue.cpuLimit, 4],
  [
    'the scale of the agent stands as it is',
    { min_scale: 1, max_scale: 3 },
    ({ agent }) => agent,
    { ...openReplicas, minScale: 1, maxScale: 3 },
  ],
  [
    'the cache stands as it is, with its limits',
    { cache_cpu: 0.5, cache_memory_mb: 300 },
    ({ cache }) => cache,
    { cpu: 0.5, cpuLimit: 1, memoryMb: 300, memoryLimitMb: 300 },
  ],
  ["the cache's CPU limit is twice its request", { cache_cpu: 0.7 }, ({ cache }) => cache.cpuLimit, 1.4],
  ["the cache's memory limit is its request itself", { cache_memory_mb: 300 }, ({ cache }) => cache.memoryLimitMb, 300],
  ['the cache takes nothing from the agent', { cpu: 2, memory_mb: 512 }, ({ cache }) => cache, open],
  [
    "the database's limits are twice its requests",
    { db_cpu: 1, db_memory_mb: 1000 },
    ({ database }) => database,
    { ...nothing.database, cpu: 1, cpuLimit: 2, memoryMb: 1000, memoryLimitMb: 2000 },
  ],
  [
    'storage and connections of the database stand as they are',
    { db_storage_gi: 20, db_max_connections: 90 },
    ({ database }) => database,
    { ...nothing.database, storageGi: 20, maxConnections: 90 },
  ],
  [
    'zero replicas are a number, and no gap',
    { min_scale: 0 },
    ({ agent, queue }) => [agent.minScale, queue.minScale],
    [0, 0],
  ],
  ['null is open', { cpu: null, memory_mb: null, queue_cpu: null }, (of) => of, nothing],
  ['a queue is there where one of its fields is', { queue_min_scale: 1 }, ({ hasQueue }) => hasQueue, true],
  [
    'and so are cache and database',
    { cache_cpu: 1, db_cpu: 1 },
    (of) => [of.hasQueue, of.hasCache, of.hasDatabase],
    [false, true, true],
  ],
  [
    'unused fields are listed and have no effect',
    { orchestrator_cpu: 2, executor_memory_mb: 100 },
    (of) => of,
    { ...nothing, ignored: ['orchestrator_cpu', 'executor_memory_mb'] },
  ],
])('%s', (_, spec, part, expected) => expect(part(resolvedResources(spec))).toEqual(expected));

test('without a spec everything is open', () => expect(resolvedResources(undefined)).toEqual(nothing));

test('reports every unused field as ignored', () => {
  const all = Object.fromEntries(unusedResourceFields.map((field) => [field, 1]));
  expect(resolvedResources(all)).toEqual({ ...nothing, ignored: unusedResourceFields });
});
