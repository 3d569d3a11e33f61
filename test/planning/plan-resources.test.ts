import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker } from '../../src/config/desired.ts';
import { plan } from '../../src/planning/plan.ts';
import { withoutRequest } from '../../src/planning/plan-identity.ts';
import { docker, image, seenImage, changed, request, obstacles, notes } from './plan-cases.ts';

describe('resources', () => {
  const requested = (resourceSpec: DesiredExternalDocker['resourceSpec'], resource_spec: Record<string, unknown>) =>
    plan(
      { ...docker, ...(resourceSpec ? { resourceSpec } : {}) },
      { ...seenImage, deployment: { ...image, source_config: { resource_spec } } },
    );

  test.each<[string, DesiredExternalDocker['resourceSpec'], Record<string, unknown>]>([
    ['the same', { cpu: 1 }, { cpu: 1 }],
    ['rounded by the service', { cpu: 0.25 }, { cpu: 0.3 }],
    ['equal but for floating-point error', { cpu: 0.3 }, { cpu: 0.30000000000000004 }],
    [
      'with the defaults filled in',
      { cpu: 1, memory_mb: 512 },
      { cpu: 1, memory_mb: 512, cpu_limit: 2, queue_cpu: 1, memory_limit_mb: 1024 },
    ],
    ['with nulls', { cpu: 1 }, { cpu: 1, db_cpu: null, labels: null, something_newer: null }],
    ['with empty lists', { cpu: 1 }, { cpu: 1, volumes: [], labels: {} }],
    ['a requested default that is not reported', { cpu: 1, cpu_limit: 2 }, { cpu: 1 }],
    ['some of what is there', { cpu: 1 }, { cpu: 1, memory_mb: 512 }],
    ['a field that is not to be used', { orchestrator_cpu: 1 }, { cpu: 1 }],
    ['a null for what is not there', { cpu: 1, labels: null }, { cpu: 1 }],
    [
      'a container with nulls and an empty value',
      { sidecars: [{ name: 'a', image: 'i', env: [{ name: 'E' }] }] },
      { sidecars: [{ name: 'a', image: 'i', command: null, env: [{ name: 'E', value: '', valueFrom: null }] }] },
    ],
  ])('match: %s', (_, spec, held) => {
    expect(requested(spec, held)).toMatchObject({ kind: 'none' });
  });

  test.each<[string, DesiredExternalDocker['resourceSpec'], Record<string, unknown>, object, string[]]>([
    [
      'merged with what is there',
      { memory_mb: 1024 },
      { cpu: 1, memory_mb: 512, cpu_limit: 3 },
      { cpu: 1, memory_mb: 1024, cpu_limit: 3 },
      ['memory_mb', 'memory_limit_mb', 'queue_memory_mb', 'queue_memory_limit_mb'],
    ],
    [
      'rounded before they are sent',
      { cpu: 0.26, cpu_limit: 1 },
      { cpu: 0.2, cpu_limit: 1, queue_cpu: 1 },
      { cpu: 0.3, cpu_limit: 1, queue_cpu: 1 },
      ['cpu'],
    ],
    [
      'a default that the service filled in follows',
      { cpu: 2 },
      { cpu: 1, cpu_limit: 2, queue_cpu: 1, queue_cpu_limit: 2 },
      { cpu: 2 },
      ['cpu', 'cpu_limit', 'queue_cpu', 'queue_cpu_limit'],
    ],
    [
      'and goes with a field that is opened again',
      { cpu: null },
      { cpu: 1, cpu_limit: 2, memory_mb: 512, memory_limit_mb: 1024 },
      { memory_mb: 512, memory_limit_mb: 1024 },
      ['cpu', 'cpu_limit', 'queue_cpu', 'queue_cpu_limit'],
    ],
    ['a null opens a field again', { labels: null }, { cpu: 1, labels: { a: 'b' } }, { cpu: 1 }, ['labels']],
    ['an empty map empties', { labels: {} }, { cpu: 1, labels: { a: 'b' } }, { cpu: 1, labels: {} }, ['labels']],
  ])('differ: %s', (_, spec, held, sent, fields) => {
    const planned = requested(spec, held);
    expect(request(planned)).toEqual({ source_config: { resource_spec: sent } });
    expect(changed(planned)).toEqual(fields.map((field) => `source_config.resource_spec.${field}`));
  });

  test('fails on resources that cannot be sent again', () => {
    const held = { cpu: 1, sidecars: [{ name: 'a', image: 'i', lifecycle: {} }], newer: 3 };
    const planned = requested({ cpu: 2 }, held);
    expect(obstacles(planned).map(({ field }) => field)).toEqual(['source_config.resource_spec.sidecars']);
    expect(notes(requested({ cpu: 2, sidecars: [] }, held))).toContain('source_config.resource_spec.newer');
  });

  test('rejects a mount without its volume', () => {
    const planned = requested({ volume_mounts: [{ name: 'data', mountPath: '/data' }] }, { cpu: 1 });
    expect(obstacles(planned)[0]?.problem).toContain('no volume is named data');
  });

  test('rejects an amount above the existing limit', () => {
    const planned = requested({ cpu: 2 }, { cpu: 1, cpu_limit: 1.5 });
    expect(obstacles(planned)).toMatchObject([
      { field: 'source_config.resource_spec.cpu', problem: 'is 2 and may not be above cpu_limit (1.5)' },
    ]);
  });

  test('checks a default of a creation against the requested limit', () => {
    const planned = plan(
      { ...docker, resourceSpec: { max_scale: 2, queue_min_scale: 3 } },
      { commit: seenImage.commit },
    );
    expect(obstacles(planned)).toMatchObject([
      {
        field: 'source_config.resource_spec.queue_min_scale',
        problem: 'is 3 and may not be above queue_max_scale (2, its default)',
      },
    ]);
  });

  test('shows no environment values', () => {
    const planned = requested(
      { sidecars: [{ name: 'a', image: 'i', env: [{ name: 'E', value: 'hush' }] }] },
      { cpu: 1 },
    );
    expect(JSON.stringify(withoutRequest(planned))).not.toContain('hush');
  });
});
