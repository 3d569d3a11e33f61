import { describe, expect, test } from 'vitest';
import type { ResourceSpec } from '../../../../src/contract/control/resource-spec.ts';
import { resourceProblems } from '../../../../src/services/control/deployments/validation/requested-deployment.ts';

describe('rejects a contradictory resource_spec', () => {
  test.each<[string, ResourceSpec, string[]]>([
    [
      'a minimum of replicas above the maximum',
      { min_scale: 5, max_scale: 2 },
      ['source_config.resource_spec.min_scale is 5 and may not be above max_scale (2).'],
    ],
    [
      'a minimum with a maximum of zero',
      { min_scale: 1, max_scale: 0 },
      ['source_config.resource_spec.min_scale is 1 and may not be above max_scale (0).'],
    ],
    [
      'more CPU than its limit',
      { cpu: 2, cpu_limit: 1.5 },
      ['source_config.resource_spec.cpu is 2 and may not be above cpu_limit (1.5).'],
    ],
    [
      'more memory than its limit',
      { memory_mb: 512, memory_limit_mb: 256 },
      ['source_config.resource_spec.memory_mb is 512 and may not be above memory_limit_mb (256).'],
    ],
    [
      'a queue of its own bounds',
      { queue_min_scale: 3, queue_max_scale: 2, queue_cpu: 1, queue_cpu_limit: 0.5 },
      [
        'source_config.resource_spec.queue_min_scale is 3 and may not be above queue_max_scale (2).',
        'source_config.resource_spec.queue_cpu is 1 and may not be above queue_cpu_limit (0.5).',
      ],
    ],
    [
      'a queue with a default of the agents below',
      { min_scale: 2, max_scale: 4, memory_mb: 512, queue_max_scale: 1, queue_memory_limit_mb: 100 },
      [
        'source_config.resource_spec.queue_min_scale is 2, the min_scale, and may not be above queue_max_scale (1).',
        'source_config.resource_spec.queue_memory_mb is 512, the memory_mb, and may not be above queue_memory_limit_mb (100).',
      ],
    ],
    [
      'a queue with a default of the agents above',
      { max_scale: 2, queue_min_scale: 3 },
      ['source_config.resource_spec.queue_min_scale is 3 and may not be above queue_max_scale (2, its default).'],
    ],
    [
      'the cache and the database',
      { cache_memory_mb: 20, cache_memory_limit_mb: 10, db_cpu: 2, db_cpu_limit: 1 },
      [
        'source_config.resource_spec.cache_memory_mb is 20 and may not be above cache_memory_limit_mb (10).',
        'source_config.resource_spec.db_cpu is 2 and may not be above db_cpu_limit (1).',
      ],
    ],
    [
      'an init container that is started again as a sidecar is',
      { init_containers: [{ name: 'a', image: 'b', restartPolicy: 'Always' }] },
      ['source_config.resource_spec.init_containers.0.restartPolicy is for sidecars alone.'],
    ],
  ])('%s', (_, spec, problems) => expect(resourceProblems(spec)).toEqual(problems));
});

describe('accepts a resource_spec that can run', () => {
  test.each<[string, ResourceSpec]>([
    ['nothing', {}],
    ['nulls', { min_scale: null, max_scale: 0, cpu: null, cpu_limit: 1 }],
    ['equal bounds', { min_scale: 2, max_scale: 2, cpu: 1, cpu_limit: 1, memory_mb: 5, memory_limit_mb: 5 }],
    ['a minimum alone', { min_scale: 5 }],
    ['the queue as the agents', { min_scale: 2, max_scale: 3, cpu: 2, cpu_limit: 2 }],
    ['unused fields', { orchestrator_min_scale: 3, orchestrator_max_scale: 1 }],
  ])('%s', (_, spec) => expect(resourceProblems(spec)).toEqual([]));
});
