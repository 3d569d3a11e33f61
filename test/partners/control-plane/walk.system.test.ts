import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { additions } from '../../services/control/api/additions.ts';
import { differences } from '../../services/control/api/differences.ts';
import {
  fromGit,
  fromImage,
  fromUpload,
  unknownId,
  openServiceFixture,
  type ServiceFixture,
} from '../../services/control/service-fixture.ts';
import { publicOperations, seenAdditions } from './public-answers.ts';
import { publicCaller, type Requested, type PublicCaller } from './public-caller.ts';

// Every operation of the public service's own document, with its field names. Every response is validated against its
// schemas: statuses, required fields, types, formats and enums, and no additional field that is not listed.

let fixture: ServiceFixture;
let service: PublicCaller;
beforeAll(async () => {
  fixture = await openServiceFixture({ prefix: '/api-host', holds: true });
  service = publicCaller(fixture.baseUrl, fixture.apiKey);
});
afterAll(() => fixture?.close());

const made = z.looseObject({ id: z.string(), latest_revision_id: z.string() });
const listed = z.looseObject({ resources: z.array(z.looseObject({ id: z.string() })), offset: z.int() });

const deployments = '/v2/deployments';
const one = `${deployments}/{deployment_id}`;
const revisions = `${one}/revisions`;
const revision = `${revisions}/{revision_id}`;
const listeners = '/v2/listeners';
const listener = `${listeners}/{listener_id}`;
/** The public service has a second App under the longer path; here both are the same one. */
const apps = ['/v1/integrations/github', '/v1/integrations/forge/github'];
const repositories = (app: string): string => `${app}/{integration_id}/repos`;

/** A body with the document's field names. */
const publicly = (body: ReturnType<typeof fromGit>, changes: Record<string, unknown> = {}) => ({
  ...body,
  source_revision_config: { repo_ref: 'main', langgraph_config_path: 'langgraph.json' },
  ...changes,
});

const create = async (body: unknown): Promise<z.infer<typeof made>> =>
  made.parse(await service.ask(`POST ${deployments}`, { body }, 201));

const compute = (compute_id: string) => ({
  compute_type: 'k8s',
  compute_id,
  compute_config: { k8s_namespaces: ['default'] },
});

const spec = {
  min_scale: 1,
  max_scale: 2,
  cpu: 1,
  memory_mb: 512,
  redis_cpu: 0.5,
  redis_memory_mb: 256,
  labels: { team: 'agents' },
  image_pull_secrets: [{ name: 'pull' }],
  volumes: [{ name: 'scratch', emptyDir: {} }],
  volume_mounts: [{ name: 'scratch', mountPath: '/scratch', readOnly: false }],
  sidecars: [{ name: 'log', image: 'log:1', env: [{ name: 'A' }], resources: { limits: { cpu: '1' } } }],
};

describe('a valid request gets a documented response', () => {
  test('a repository is deployed, changed, redeployed and listed', async () => {
    const { id, latest_revision_id: first } = await create(
      publicly(fromGit(), { secrets: [{ name: 'A', value: 'b' }] }),
    );
    await fixture.rollouts.settled();
    expect(await service.ask(`GET ${one}`, { ids: [id] }, 200)).toMatchObject({
      id,
      active_revision_id: first,
      source_revision_config: { langgraph_config_path: 'langgraph.json' },
    });
    expect(await service.ask(`GET ${revision}`, { ids: [id, first] }, 200)).toMatchObject({ status: 'DEPLOYED' });
    const changed = { source_revision_config: { langgraph_config_path: 'deep/langgraph.json' } };
    const patched = made.parse(await service.ask(`PATCH ${one}`, { ids: [id], body: changed }, 200));
    expect(patched).toMatchObject(changed);
    await fixture.rollouts.settled();
    const again = made.parse(await service.ask(`POST ${revision}/redeploy`, { ids: [id, first] }, 200));
    expect(new Set([first, patched.latest_revision_id, again.latest_revision_id]).size).toBe(3);
    const page = listed.parse(await service.ask(`GET ${revisions}`, { ids: [id], query: { limit: '2' } }, 200));
    expect(page.resources.map((each) => each.id)).toEqual([again.latest_revision_id, patched.latest_revision_id]);
    const query = { limit: '2', offset: String(page.offset), remote_reconciled: 'false' };
    const rest = listed.parse(await service.ask(`GET ${revisions}`, { ids: [id], query }, 200));
    expect(rest).toMatchObject({ resources: [{ id: first }] });
    expect(
      await service.ask(`GET ${revisions}`, { ids: [id], query: { status: 'BUILD_FAILED,SKIPPED' } }, 200),
    ).toMatchObject({ resources: [] });
    const hold = { ids: [id, first], headers: { 'landfall-hold': '60' } };
    const held = made.parse(await service.ask(`POST ${revision}/redeploy`, hold, 200));
    expect(await service.ask(`GET ${revision}`, { ids: [id, held.latest_revision_id] }, 200)).toMatchObject({
      hold: { address: expect.stringContaining(`@${held.latest_revision_id}`), decision: null },
    });
  });

  test('an upload and an image use the same operations', async () => {
    const { id } = await create({
      ...fromUpload(),
      source_revision_config: { langgraph_config_path: 'langgraph.json' },
    });
    expect(await service.ask(`GET ${one}`, { ids: [id] }, 200)).toMatchObject({ active_revision_id: null });
    expect(
      await create(fromImage({ source_config: { resource_spec: spec }, source: 'external_docker' })),
    ).toMatchObject({ source_config: { resource_spec: spec } });
    const pushed = { ...fromImage(), source: 'internal_docker', source_config: { deployment_type: 'dev' } };
    expect(await create({ ...pushed, source_revision_config: {} })).toMatchObject({
      source: 'internal_docker',
      source_config: { deployment_type: 'dev' },
    });
  });

  test('lists support every filter of the document', async () => {
    const { id } = await create(
      publicly(fromGit(), { name: 'wanted', source_config: { repo_url: 'https://a.test/b', deployment_type: 'dev' } }),
    );
    await fixture.rollouts.settled();
    const narrow = async (query: Requested['query']): Promise<string[]> =>
      listed
        .parse(await service.ask(`GET ${deployments}`, { query: query ?? {} }, 200))
        .resources.map((each) => each.id);
    expect(await narrow({ name_contains: 'ant', status: 'READY', limit: '100', offset: '0' })).toEqual([id]);
    expect(
      await narrow({ deployment_ids: `${id},${unknownId()}`, deployment_type: 'dev', remote_reconciled: 'false' }),
    ).toEqual([id]);
    expect(await narrow({ name_contains: 'wanted', remote_reconciled: 'true' })).toEqual([]);
    expect(await narrow({ image_version: '0.0.0' })).toEqual([]);
    expect(await narrow({ tag_value_ids: unknownId() })).toEqual([]);
    expect(
      (await narrow({ name_contains: '', status: '', deployment_type: '', image_version: '' })).length,
    ).toBeGreaterThan(1);
  });

  test('listeners are made, read, changed, listed and removed', async () => {
    const { id } = z
      .looseObject({ id: z.string() })
      .parse(await service.ask(`POST ${listeners}`, { body: compute('cluster') }, 201));
    expect(await service.ask(`GET ${listener}`, { ids: [id] }, 200)).toMatchObject(compute('cluster'));
    const body = { compute_config: { k8s_namespaces: ['default', 'agents'] } };
    expect(await service.ask(`PATCH ${listener}`, { ids: [id], body }, 200)).toMatchObject(body);
    expect(await service.ask(`GET ${listeners}`, { query: { limit: '1', offset: '0' } }, 200)).toMatchObject({
      resources: [{ id }],
    });
    await service.ask(`POST ${listeners}`, { body: compute('cluster') }, 409);
    await service.ask(`DELETE ${listener}`, { ids: [id] }, 204);
    await service.ask(`GET ${listener}`, { ids: [id] }, 404);
  });

  test('integrations and their repositories are listed', async () => {
    const repository = {
      id: 3,
      name: 'agent',
      owner: 'acme',
      url: 'https://example.com/acme/agent',
    };
    const { id } = await fixture.store.bindInstallation(fixture.tenantId, 7, 'acme');
    await fixture.store.putRepositories(id, [{ ...repository, defaultBranch: 'main' }]);
    for (const app of apps) {
      expect(await service.ask(`GET ${app}/install`, {}, 200)).toEqual([{ id, installation_id: 7, name: 'acme' }]);
      const reported = await service.ask(`GET ${repositories(app)}`, { ids: [id] }, 200);
      expect(reported).toEqual([{ ...repository, default_branch: 'main', host_integration_id: id }]);
      await service.ask(`GET ${repositories(app)}`, { ids: ['none'] }, 422);
      await service.ask(`GET ${repositories(app)}`, { ids: [unknownId()] }, 404);
    }
  });

  test('one deployment is deleted, then several, and then they are gone', async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(async () => (await create(publicly(fromGit()))).id));
    const [single = '', ...several] = ids;
    await service.ask(`DELETE ${one}`, { ids: [single], query: { delete_tracing_project: 'true' } }, 204);
    await service.ask(`DELETE ${deployments}`, { query: { deployment_ids: several.slice(1) } }, 200);
    await fixture.rollouts.settled();
    await service.ask(`DELETE ${deployments}`, { query: { deployment_ids: several } }, 207);
    await service.ask(`DELETE ${deployments}`, { query: { deployment_ids: [unknownId()] } }, 404);
    await fixture.rollouts.settled();
    for (const id of ids) expect(await service.ask(`GET ${one}`, { ids: [id] }, 404)).toHaveProperty('detail');
  });
});

describe('an invalid request gets a documented error', () => {
  const body = {};
  test.each<[operation: string, requested: Requested, status: number]>([
    [`POST ${deployments}`, { body }, 422],
    [`POST ${deployments}`, { body: fromGit({ source: 'somewhere' }) }, 422],
    [`POST ${deployments}`, { body: fromImage({ source_config: { resource_spec: { cpu: 9 } } }) }, 422],
    [`POST ${deployments}`, { body: { ...fromGit(), source_revision_config: { repo_ref: 'main' } } }, 400],
    [`POST ${deployments}`, { body: fromGit({ source_config: { repo_url: 'ssh://a.test/b' } }) }, 400],
    [`POST ${deployments}`, { body, headers: { 'x-api-key': 'none' } }, 401],
    [`GET ${deployments}`, { query: { limit: '101' } }, 422],
    [`GET ${deployments}`, { query: { deployment_type: 'large' } }, 422],
    [`DELETE ${deployments}`, {}, 422],
    [`DELETE ${deployments}`, { query: { deployment_ids: 'none' } }, 422],
    [`GET ${one}`, { ids: [unknownId()] }, 404],
    [`GET ${one}`, { ids: ['none'] }, 422],
    [`PATCH ${one}`, { ids: [unknownId()], body }, 404],
    [`PATCH ${one}`, { ids: ['none'], body }, 422],
    [`DELETE ${one}`, { ids: [unknownId()] }, 404],
    [`DELETE ${one}`, { ids: ['none'] }, 422],
    [`GET ${revisions}`, { ids: [unknownId()] }, 404],
    [`GET ${revisions}`, { ids: ['none'] }, 422],
    [`GET ${revision}`, { ids: [unknownId(), unknownId()] }, 404],
    [`GET ${revision}`, { ids: ['none', unknownId()] }, 422],
    [`POST ${revision}/redeploy`, { ids: [unknownId(), unknownId()] }, 404],
    [`POST ${revision}/redeploy`, { ids: [unknownId(), 'none'] }, 422],
    [`GET ${listeners}`, { query: { offset: '-1' } }, 422],
    [`POST ${listeners}`, { body: { compute_type: 'vm' } }, 422],
    [`GET ${listener}`, { ids: ['none'] }, 422],
    [`PATCH ${listener}`, { ids: [unknownId()], body }, 404],
    [`PATCH ${listener}`, { ids: ['none'], body }, 422],
    [`DELETE ${listener}`, { ids: [unknownId()] }, 404],
    [`DELETE ${listener}`, { ids: ['none'] }, 422],
  ])('%s %j is a %i', async (operation, requested, status) => {
    expect(await service.ask(operation, requested, status)).toHaveProperty('detail');
  });

  test.each([
    [`GET ${deployments}`, [], undefined],
    [`POST ${listeners}`, [], compute('a')],
    [`GET ${listener}`, [unknownId()], undefined],
    [`PATCH ${listener}`, [unknownId()], {}],
    [`DELETE ${listener}`, [unknownId()], undefined],
  ] as const)("%s for another tenant than the key's is a 403", async (operation, ids, given) => {
    const requested = { ids, body: given, headers: { 'x-tenant-id': unknownId() } };
    expect(await service.ask(operation, requested, 403)).toHaveProperty('detail');
  });

  test('rejects invalid changes, a redeploy without a build, and a taken name', async () => {
    fixture.rollouts.fate = 'build fails';
    const { id, latest_revision_id, name } = await create(publicly(fromGit()));
    await fixture.rollouts.settled();
    fixture.rollouts.fate = 'live';
    const tag = { source_config: { build_on_push: true }, source_revision_config: { repo_ref: 'refs/tags/v1' } };
    await service.ask(`PATCH ${one}`, { ids: [id], body: tag }, 400);
    await service.ask(`POST ${revision}/redeploy`, { ids: [id, latest_revision_id] }, 400);
    const taken = { body: publicly(fromGit(), { name }) };
    expect(await service.ask(`POST ${deployments}`, taken, 409)).toHaveProperty('detail');
  });
});

describe('coverage of the document', () => {
  const left = new Set(differences.flatMap(({ what }) => what));

  test('every response of every served operation occurred', () => {
    const all = publicOperations
      .filter(({ method, path }) => !left.has(`${method} ${path}`))
      .flatMap(({ method, path, answers }) => [...answers.keys()].map((status) => `${method} ${path} ${status}`));
    expect(all.length).toBeGreaterThan(40);
    expect(all.filter((answer) => !service.answered.has(answer))).toEqual([]);
  });

  test('every listed addition occurred, and has a reason', () => {
    expect(additions.flatMap(({ what }) => what).filter((what) => !seenAdditions.has(what))).toEqual([]);
    expect(additions.filter(({ reason }) => !/^[A-Z].*\.$/.test(reason))).toEqual([]);
  });
});
