import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromImage, refusalOf, openServiceFixture } from '../service-fixture.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';
import type { ServiceFixture } from '../service-fixture.ts';

const inSpec = (resource_spec: object) => fromImage({ source_config: { resource_spec } });

const container = { name: 'proxy', image: 'proxy:1' };
const volume = { name: 'data', emptyDir: {} };

/** Every field: its claim, an accepted value, one of another type, and another claim that the row proves as well. */
const fields: readonly (readonly [field: string, taken: unknown, wrong: unknown, ...besides: string[]])[] = [
  ['min_scale', 1, 1.5],
  ['max_scale', 3, '3'],
  ['cpu', 0.5, '1'],
  ['cpu_limit', 2, '2'],
  ['memory_mb', 512, 0.5],
  ['memory_limit_mb', 1024, '1'],
  ['queue_min_scale', 1, 1.5],
  ['queue_max_scale', 2, true],
  ['queue_cpu', 0.5, '1'],
  ['queue_cpu_limit', 1, []],
  ['queue_memory_mb', 512, 1.5],
  ['queue_memory_limit_mb', 512, '512'],
  ['orchestrator_cpu', 0.5, '1'],
  ['orchestrator_cpu_limit', 1, '1'],
  ['orchestrator_memory_mb', 512, 1.5],
  ['orchestrator_memory_limit_mb', 512, 1.5],
  ['orchestrator_min_scale', 1, 1.5],
  ['orchestrator_max_scale', 2, 1.5],
  ['executor_cpu', 0.5, '1'],
  ['executor_cpu_limit', 1, '1'],
  ['executor_memory_mb', 512, 1.5],
  ['executor_memory_limit_mb', 512, 1.5],
  ['cache_cpu', 0.5, '1'],
  ['cache_cpu_limit', 1, '1'],
  ['cache_memory_mb', 512, 1.5],
  ['cache_memory_limit_mb', 512, 1.5],
  ['labels', { team: 'agents' }, { team: 7 }],
  ['annotations', { note: 'a' }, ['a']],
  ['service_account_name', 'agent', 7],
  ['image_pull_secrets', [{ name: 'registry' }], ['registry']],
  ['volumes', [volume], { data: volume }],
  ['volume_mounts', [{ name: 'data', mountPath: '/data' }], [7]],
  ['init_containers', [container], [7]],
  ['sidecars', [container], container],
  ['db_cpu', 0.5, '1'],
  ['db_cpu_limit', 1, '1'],
  ['db_memory_mb', 512, 1.5],
  ['db_memory_limit_mb', 512, 1.5],
  ['db_storage_gi', 10, 1.5],
  ['db_max_connections', 100, 1.5],
];
const claimOf = (field: string): string => `control.resource-spec.${field.replaceAll('_', '-')}`;
/** Other fields that a field needs. */
const beside = (field: string): object => (field === 'volume_mounts' ? { volumes: [volume] } : {});

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  const reported = async (spec: object) =>
    (await fixture.control.createDeployment(inSpec(spec))).source_config.resource_spec;
  const refused = (spec: object) => refusalOf(fixture.control.createDeployment(inSpec(spec)));

  eachClaim(fields.map(([field, taken, wrong]) => [claimOf(field), field, taken, wrong] as const))(
    '%s: %j is accepted and %j refused',
    {},
    async (field, taken, wrong) => {
      expect(await reported({ ...beside(field), [field]: taken })).toMatchObject({ [field]: taken });
      const { status, at } = await refused({ ...beside(field), [field]: wrong });
      expect({ status, at: at[0] }).toEqual({
        status: 422,
        at: expect.stringMatching(new RegExp(`^body.source_config.resource_spec.${field}`)),
      });
    },
  );

  test('every field may be left out', { meta: { claims: ['control.resource-spec.optional'] } }, async () => {
    expect(await reported({})).toEqual({});
  });

  test('every field may be null', { meta: { claims: ['control.resource-spec.nullable'] } }, async () => {
    const nulls = Object.fromEntries(fields.map(([field]) => [field, null]));
    expect(await reported(nulls)).toEqual(nulls);
  });

  const requests = ['cpu', 'queue_cpu', 'cache_cpu'].map((field) => [field, 8] as const);
  const limits = ['cpu_limit', 'queue_cpu_limit', 'cache_cpu_limit'].map((field) => [field, 16] as const);

  eachClaim(
    [...requests, ...limits].map(
      ([field, most]) =>
        [`${claimOf(field)}-bounds control.limits.cpu-${most === 8 ? 'requests' : 'limits'}`, field, most] as const,
    ),
  )('%s lies from 0.1 to %d', { meta: { claims: ['control.errors.cpu-out-of-bounds'] } }, async (field, most) => {
    expect(await reported({ [field]: 0.1 })).toEqual({ [field]: 0.1 });
    expect(await reported({ [field]: most })).toEqual({ [field]: most });
    for (const outside of [0.09, 0, -1, most + 0.01, most + 1])
      expect(await refused({ [field]: outside })).toMatchObject({
        status: 422,
        at: [`body.source_config.resource_spec.${field}`],
      });
  });

  test.each([...requests, ...limits].map(([field]) => [field]))(
    '%s is kept with one digit after the point',
    {
      meta: {
        claims: [
          'control.resource-spec.cpu-rounded',
          'control.limits.cpu-rounding',
          'control.resource-spec.cpu-fractional',
        ],
      },
    },
    async (field) => {
      expect(await reported({ [field]: 1.26 })).toEqual({ [field]: 1.3 });
      expect(await reported({ [field]: 0.14 })).toEqual({ [field]: 0.1 });
      expect(await reported({ [field]: 2 })).toEqual({ [field]: 2 });
    },
  );

  test(
    'a PATCH replaces the whole spec',
    { meta: { claims: ['control.resource-spec.patch-overwrites'] } },
    async () => {
      const { id } = await fixture.control.createDeployment(inSpec({ cpu: 1, memory_mb: 512, labels: { a: 'b' } }));
      const patch = { source_config: { resource_spec: { memory_mb: 1024 } } };
      const after = await fixture.control.patchDeployment(id, patch);
      expect(after.source_config.resource_spec).toEqual({ memory_mb: 1024 });
    },
  );

  test('an amount above its limit is a 400 in a creation and in a change', async () => {
    const spec = { min_scale: 5, max_scale: 2 };
    const badRequest = {
      status: 400,
      detail: expect.stringContaining('min_scale is 5 and may not be above max_scale (2).'),
    };
    await expect(fixture.control.createDeployment(inSpec(spec))).rejects.toMatchObject(badRequest);
    const { id } = await fixture.control.createDeployment(inSpec({ max_scale: 2 }));
    const patched = (resource_spec: object) =>
      fixture.control.patchDeployment(id, { source_config: { resource_spec } });
    await expect(patched(spec)).rejects.toMatchObject(badRequest);
    // The PATCH replaces the whole spec, with its limits.
    expect((await patched({ min_scale: 5 })).source_config.resource_spec).toEqual({ min_scale: 5 });
  });

  test(
    'an entry of image_pull_secrets needs a name',
    { meta: { claims: ['control.resource-spec.image-pull-secrets-name'] } },
    async () => {
      expect(await refused({ image_pull_secrets: [{}] })).toMatchObject({
        status: 422,
        at: ['body.source_config.resource_spec.image_pull_secrets.0.name'],
      });
      expect(await refused({ image_pull_secrets: [{ name: 7 }] })).toMatchObject({ status: 422 });
    },
  );

  test('reads the public names of the cache fields too', async () => {
    expect(await reported({ redis_cpu: 1.04, redis_memory_limit_mb: 64 })).toEqual({
      cache_cpu: 1,
      cache_memory_limit_mb: 64,
    });
    expect(await refused({ redis_cpu: 9 })).toMatchObject({ status: 422 });
  });
});
