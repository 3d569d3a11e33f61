import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import {
  fromGit,
  fromImage,
  unknownId,
  openServiceFixture,
  type ServiceFixture,
} from '../../services/control/service-fixture.ts';
import { problemsOf, publicOperations } from './public-answers.ts';
import { publicCaller, type PublicCaller } from './public-caller.ts';
import { requestOf } from './public-requests.ts';

// Bodies generated from the public document's request schemas: every valid request gets a documented response.

let fixture: ServiceFixture;
let service: PublicCaller;
beforeAll(async () => {
  fixture = await openServiceFixture();
  fixture.rollouts.fate = 'held';
  service = publicCaller(fixture.baseUrl, fixture.apiKey);
});
afterAll(() => fixture?.close());

const one = '/v2/deployments/{deployment_id}';
const listener = '/v2/listeners/{listener_id}';
const made = z.looseObject({ id: z.string() });
const create = async () => made.parse(await service.ask('POST /v2/deployments', { body: fromGit() }, 201));
const createListener = async () => {
  const body = { compute_type: 'k8s', compute_id: unknownId(), compute_config: { k8s_namespaces: ['default'] } };
  return made.parse(await service.ask('POST /v2/listeners', { body }, 201));
};

test.each(publicOperations.filter(({ path, body }) => body && !path.includes('/auth/')))(
  '$method $path gives documented responses to all valid requests',
  async ({ method, path, body = {} }) => {
    const { id } = await create();
    const { id: cluster } = await createListener();
    const ids = path === one ? [id] : path === listener ? [cluster] : [];
    const generated = publicCaller(fixture.baseUrl, fixture.apiKey);
    await fc.assert(
      fc.asyncProperty(requestOf(body), async (given) => {
        await generated.ask(`${method} ${path}`, { ids, body: given });
      }),
      { numRuns: 30, seed: 7, endOnFailure: true },
    );
    expect(generated.answered.size).toBeGreaterThan(0);
  },
);

test('a documented resource_spec is accepted and returned as it is, or rejected', async () => {
  const generated = publicCaller(fixture.baseUrl, fixture.apiKey);
  const spec = requestOf({ $ref: '#/components/schemas/ResourceSpec-Input' });
  await fc.assert(
    fc.asyncProperty(spec, async (resource_spec) => {
      const body = fromImage({ source_config: { resource_spec } });
      const reported = z.looseObject({}).parse(await generated.ask('POST /v2/deployments', { body }));
      expect(Object.keys(reported)).toContain('id' in reported ? 'source_config' : 'detail');
    }),
    { numRuns: 60, seed: 7, endOnFailure: true },
  );
  expect([...generated.answered]).toContain('POST /v2/deployments 201');
});

test('the comparison finds missing, mistyped and additional fields', async () => {
  const { id } = await create();
  const good = z.looseObject({}).parse(await service.ask(`GET ${one}`, { ids: [id] }, 200));
  const operation = publicOperations.find(({ method, path }) => method === 'GET' && path === one);
  if (!operation) throw new Error('the document reads no deployment');
  const { tenant_id: _, ...less } = good;
  const wrong = [
    less,
    { ...good, id: 'seven' },
    { ...good, created_at: 'yesterday' },
    { ...good, status: 'FINE' },
    { ...good, source_config: { graph_config_path: null } },
    { ...good, more: 1 },
  ];
  expect(problemsOf(operation, 200, good)).toEqual([]);
  for (const body of wrong) expect(problemsOf(operation, 200, body)).not.toEqual([]);
  for (const status of [201, 418, 500]) expect(problemsOf(operation, status, { detail: 'no' })).not.toEqual([]);
  expect(problemsOf(operation, 404, { error: 'no' })).not.toEqual([]);
  expect(problemsOf(operation, 422, { detail: [{ loc: ['body'], msg: 'no' }] })).not.toEqual([]);
});
