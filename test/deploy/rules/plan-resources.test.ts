import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker } from '../../../src/deploy/file/desired.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import type { PlanNote } from '../../../src/deploy/rules/plan-types.ts';
import { docker, image, seenImage, changed, request, obstacles, notes, shown } from './plan-cases.ts';

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
    ['labels in another order', { labels: { a: '1', b: '2' } }, { labels: { b: '2', a: '1' } }],
    ['a null for what equals its default', { cpu: 1, cpu_limit: null }, { cpu: 1, cpu_limit: 2 }],
    ['memory by its own default', { memory_mb: 512 }, { memory_mb: 512, memory_limit_mb: 1024, queue_memory_mb: 512 }],
    ['an empty map for what is not there', { labels: {} }, { cpu: 1 }],
    [
      'a requested null within a container',
      { sidecars: [{ name: 'a', image: 'i', command: null }] },
      { sidecars: [{ name: 'a', image: 'i' }] },
    ],
    ['nothing requested', undefined, { cpu: 1 }],
    ['nothing of what is there', {}, { cpu: 1, labels: { a: 'b' } }],
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
    [
      'a default under another one follows too',
      { memory_mb: 1024 },
      { memory_mb: 512, queue_memory_mb: 512, queue_memory_limit_mb: 1024 },
      { memory_mb: 1024 },
      ['memory_mb', 'queue_memory_mb', 'queue_memory_limit_mb', 'memory_limit_mb'],
    ],
    [
      'an existing value that is no default stays',
      { cpu: 2 },
      { cpu: 1, cpu_limit: 3, queue_cpu: 0.5, queue_cpu_limit: 1 },
      { cpu: 2, cpu_limit: 3, queue_cpu: 0.5, queue_cpu_limit: 1 },
      ['cpu'],
    ],
    [
      'a requested default is sent',
      { cpu: 2, cpu_limit: 2 },
      { cpu: 1, cpu_limit: 2 },
      { cpu: 2, cpu_limit: 2 },
      ['cpu', 'queue_cpu', 'queue_cpu_limit'],
    ],
    [
      'an empty label is one',
      { labels: { a: 'b', c: '' } },
      { labels: { a: 'b' } },
      { labels: { a: 'b', c: '' } },
      ['labels'],
    ],
    [
      'another value of an environment',
      { sidecars: [{ name: 'a', image: 'i', env: [{ name: 'E', value: 'b' }] }] },
      { sidecars: [{ name: 'a', image: 'i', env: [{ name: 'E', value: 'c' }] }] },
      { sidecars: [{ name: 'a', image: 'i', env: [{ name: 'E', value: 'b' }] }] },
      ['sidecars'],
    ],
    ['another value of a label', { labels: { a: 'c' } }, { labels: { a: 'b' } }, { labels: { a: 'c' } }, ['labels']],
    [
      'without the nulls of what is there',
      { service_account_name: 'b' },
      { cpu: 1, db_cpu: null, sidecars: [{ name: 'a', image: 'i', command: null }] },
      { cpu: 1, sidecars: [{ name: 'a', image: 'i' }], service_account_name: 'b' },
      ['service_account_name'],
    ],
    ['an empty map empties', { labels: {} }, { cpu: 1, labels: { a: 'b' } }, { cpu: 1, labels: {} }, ['labels']],
  ])('differ: %s', (_, spec, held, sent, fields) => {
    const planned = requested(spec, held);
    expect(request(planned)).toEqual({ source_config: { resource_spec: sent } });
    expect(changed(planned)).toEqual(fields.map((field) => `source_config.resource_spec.${field}`));
  });

  const differs = 'resource-differs';
  const followed = 'resource-default';
  const sidecar = { name: 'a', image: 'i' };

  test.each<
    [
      DesiredExternalDocker['resourceSpec'],
      Record<string, unknown>,
      [field: string, from: string | undefined, to: string | undefined, code: string][],
    ]
  >([
    [
      { cpu: 2, queue_cpu_limit: 2 },
      { cpu: 1, queue_cpu: 1, queue_cpu_limit: 1 },
      [
        ['cpu', '1', '2', differs],
        ['queue_cpu', '1', '2', followed],
        ['queue_cpu_limit', '1', '2', differs],
        ['cpu_limit', '2', '4', followed],
      ],
    ],
    [{ service_account_name: 'b' }, {}, [['service_account_name', undefined, 'b', differs]]],
    [
      { service_account_name: null },
      { service_account_name: 'b' },
      [['service_account_name', 'b', undefined, differs]],
    ],
    [{ labels: { b: '2', a: '1' } }, { labels: { c: '3' } }, [['labels', 'c', 'a, b', differs]]],
    [{ sidecars: [sidecar] }, {}, [['sidecars', undefined, '1 entry', differs]]],
    [
      { sidecars: [sidecar, { ...sidecar, name: 'b' }] },
      { sidecars: [sidecar] },
      [['sidecars', '1 entry', '2 entries', differs]],
    ],
  ])('reports what changes with %j', (spec, held, changes) => {
    const planned = requested(spec, held);
    expect(planned.kind === 'patch' && planned.changes).toEqual(
      changes.map(([field, from, to, code]) => ({
        field: `source_config.resource_spec.${field}`,
        from,
        to,
        makesRevision: true,
        why: { code },
      })),
    );
  });

  test.each<
    [what: string, spec: DesiredExternalDocker['resourceSpec'], held: Record<string, unknown>, noted: PlanNote[]]
  >([
    [
      'a field that is not to be used',
      { executor_cpu: 1 },
      {},
      [{ code: 'resource-unused', field: 'source_config.resource_spec.executor_cpu' }],
    ],
    [
      'a field that is not known',
      { cpu: 2 },
      { cpu: 1, newer: 3 },
      [{ code: 'resource-unknown', field: 'source_config.resource_spec.newer' }],
    ],
    ['no unknown field that is kept, as nothing is sent', { cpu: 1 }, { cpu: 1, newer: 3 }, []],
    ['nothing where no resources are requested', undefined, { cpu: 1, newer: 3 }, []],
    ['no unknown field that is empty', { cpu: 2 }, { newer: [] }, []],
  ])('notes %s', (_, spec, held, noted) => expect(notes(requested(spec, held))).toEqual(noted));

  const unreadable = { cpu: 1, sidecars: [{ ...sidecar, lifecycle: {} }] };

  test('fails on resources that cannot be sent again, and says which to give', () => {
    expect(obstacles(requested({ cpu: 2 }, unreadable))).toEqual([
      { field: 'source_config.resource_spec.sidecars', code: 'resource-lost' },
    ]);
  });

  test.each<[what: string, spec: DesiredExternalDocker['resourceSpec'], kind: string]>([
    ['are left where nothing else changes', { cpu: 1 }, 'none'],
    ['are replaced by requested ones', { cpu: 2, sidecars: [sidecar] }, 'patch'],
    ['are emptied on request', { cpu: 2, sidecars: [] }, 'patch'],
  ])('resources that cannot be sent again %s', (_, spec, kind) => expect(requested(spec, unreadable).kind).toBe(kind));

  test('resources of a service that reports none are sent', () => {
    const planned = plan(
      { ...docker, resourceSpec: { cpu: 1 } },
      { ...seenImage, deployment: { ...image, source_config: {} } },
    );
    expect(request(planned)).toEqual({ source_config: { resource_spec: { cpu: 1 } } });
    expect(notes(planned)).toEqual([]);
  });

  test('rejects a mount without its volume', () => {
    const planned = requested({ volume_mounts: [{ name: 'data', mountPath: '/data' }] }, { cpu: 1 });
    expect(obstacles(planned)).toEqual([
      {
        field: 'source_config.resource_spec.volume_mounts.0.name',
        code: 'resources',
        problem: 'no volume is named data',
      },
    ]);
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
    expect(shown(planned)).not.toContain('hush');
  });
});
