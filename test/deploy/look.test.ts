import { describe, expect, test } from 'vitest';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { GithubRepository } from '../../src/contract/control/integration.ts';
import { goesLive, serviceError } from './control-model.ts';
import { first, github, image, running, second, workflowOn, World } from './told.ts';

const ids = {
  east: '8b6e4c1e-0000-4000-8000-000000000001',
  west: '8b6e4c1e-0000-4000-8000-000000000002',
};
const another = (world: World, id: string, name: string): Deployment => {
  if (!world.control.service.deployment) throw new Error('there is no deployment');
  return { ...world.control.service.deployment, id, name };
};

describe('found by its name', () => {
  test('on whichever page', async () => {
    const world = await running();
    world.control.others = Array.from({ length: 250 }, (_, index) => another(world, `o${index}`, `agent-${index}`));
    expect(await world.deploy()).toMatchObject({ kind: 'unchanged', deploymentId: 'd1' });
    expect(world.control.count('list')).toBe(3);
  });

  test('only by all of it', async () => {
    const world = await running();
    world.control.others = [another(world, 'o1', 'agent-staging')];
    expect(await world.deploy()).toMatchObject({ deploymentId: 'd1' });
  });

  test('two of one name: a person has to say which', async () => {
    const world = await running();
    world.control.others = [another(world, 'o1', 'agent')];
    for (const mode of ['deploy', 'plan', 'smoke', 'rollback'] as const) {
      const outcome = await world.deploy({ mode });
      expect(outcome).toMatchObject({ kind: 'refused', changed: false });
      expect(outcome.reason).toContain('2 deployments are named agent: o1, d1');
      expect(outcome.advice).toContain('deployment-id');
    }
  });

  test('what a list leaves out of a deployment is asked for: secrets that nobody sees would be lost', async () => {
    const world = await running();
    world.control.listsSecrets = false;
    world.control.scripts.push(goesLive(first));
    const outcome = await world.deploy({ desired: { ...github, secrets: [{ name: 'NEW', value: 'new-value' }] } });
    expect(outcome).toMatchObject({ kind: 'deployed' });
    expect(world.control.sent.at(-1)?.secrets?.map(({ name }) => name)).toEqual(['TOKEN', 'NEW']);
  });

  test('a service that answers its first page for ever is not asked for ever', async () => {
    const world = await running();
    const page = Array.from({ length: 100 }, (_, index) => another(world, `o${index}`, `agent-${index}`));
    let asked = 0;
    world.control.listDeployments = async () => {
      asked += 1;
      return { resources: page, offset: 0 };
    };
    await world.deploy({ mode: 'plan' });
    expect(asked).toBe(2);
  });

  test('a service that does not list deployments: said once, and it goes on', async () => {
    const world = new World();
    world.control.lacks.add('lists');
    const outcome = await world.deploy();
    expect(outcome).toMatchObject({ kind: 'deployed', deploymentId: 'd1' });
    expect(outcome.notes.filter((note) => note.includes('does not list deployments'))).toHaveLength(1);
  });
});

test.each(['plan', 'smoke', 'deploy'] as const)(
  '%s: an address that lists nothing at all is no control service',
  async (mode) => {
    const world = new World();
    world.control.lacks.add('lists');
    const lacking = (operation: string) => () => Promise.reject(serviceError('missing', operation, { status: 404 }));
    world.control.listListeners = lacking('list listeners');
    world.control.listIntegrations = lacking('list integrations');
    const outcome = await world.deploy({ mode });
    expect(outcome).toMatchObject({ kind: 'refused', advice: expect.stringContaining('base-url') });
  },
);

test('by its id nothing is listed', async () => {
  const world = await running();
  expect(await world.deploy({ desired: { ...github, deploymentId: 'd1' } })).toMatchObject({ kind: 'unchanged' });
  expect(world.control.count('list')).toBe(0);
});

test('a live revision that is not told any more is no obstacle', async () => {
  const world = await running();
  world.control.push(goesLive(second));
  const read = world.control.getRevision.bind(world.control);
  world.control.getRevision = async (deployment, id, options) => {
    if (id === 'r1') throw serviceError('missing', 'get revision', { status: 404 });
    return read(deployment, id, options);
  };
  expect(await world.deploy({ workflow: workflowOn(second) })).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
});

test('a revision of this commit is adopted behind a newer one', async () => {
  const world = await running();
  world.control.push([
    { after: 0, status: 'BUILDING', commit: second },
    { after: 30_000, status: 'DEPLOYED', commit: second },
  ]);
  world.control.push([{ after: 0, status: 'QUEUED' }]);
  const outcome = await world.deploy({ workflow: workflowOn(second) });
  expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2', changed: false });
});

describe('an integration that nobody named', () => {
  const repository = (name: string): GithubRepository => ({
    id: 1,
    name,
    owner: 'acme',
    url: `https://github.com/acme/${name}`,
  });
  const integrations = [
    { id: ids.east, name: 'acme' },
    { id: ids.west, name: 'beta' },
  ];
  const created = (world: World) => {
    const [request] = world.control.sent;
    return request?.source_config?.integration_id;
  };

  test('is the one that reaches the repository', async () => {
    const world = new World();
    world.control.integrations = integrations;
    world.control.repositories.set(ids.west, [repository('other'), repository('agent')]);
    const outcome = await world.deploy();
    expect(created(world)).toBe(ids.west);
    expect(outcome.notes.join()).toContain('integration beta is taken');
  });

  test('several that reach it are listed to choose from', async () => {
    const world = new World();
    world.control.integrations = integrations;
    for (const { id } of integrations) world.control.repositories.set(id, [repository('agent')]);
    const outcome = await world.deploy();
    expect(outcome).toMatchObject({ kind: 'refused', changed: false });
    expect(outcome.reason).toContain(`acme (${ids.east}), beta (${ids.west})`);
  });

  test('is the only one there is, where nobody tells what it reaches', async () => {
    const world = new World();
    world.control.lacks.add('repositories');
    world.control.integrations = integrations.slice(0, 1);
    await world.deploy();
    expect(created(world)).toBe(ids.east);
  });

  test.each([
    ['none reaches it', (world: World) => void (world.control.integrations = integrations)],
    ['there is none', () => undefined],
    ['they are not listed', (world: World) => void world.control.lacks.add('integrations')],
  ])('%s: none is named, and it says so', async (_, prepare) => {
    const world = new World();
    prepare(world);
    const outcome = await world.deploy();
    expect(created(world)).toBeUndefined();
    expect(outcome.notes.join()).toContain('none is named');
  });

  test('nobody looks for one that was given, or for a deployment that is there', async () => {
    const world = new World();
    await world.deploy({ desired: { ...github, integrationId: ids.east } });
    await world.deploy();
    expect(world.control.count('integrations')).toBe(0);
  });
});

describe('a listener that nobody named', () => {
  const listeners = [
    { id: ids.east, compute_type: 'k8s', compute_id: 'east', compute_config: { k8s_namespaces: ['a', 'b'] } },
    { id: ids.west, compute_type: 'k8s', compute_id: 'west', compute_config: { k8s_namespaces: ['c'] } },
  ];
  const created = (world: World) => world.control.sent[0]?.source_config?.listener_id;

  test('is the only one there is', async () => {
    const world = new World();
    world.control.listeners = listeners.slice(0, 1);
    await world.deploy({ desired: image });
    expect(created(world)).toBe(ids.east);
  });

  test('is the only one that serves the namespace', async () => {
    const world = new World();
    world.control.listeners = listeners;
    await world.deploy({ desired: { ...image, k8sNamespace: 'c' } });
    expect(created(world)).toBe(ids.west);
  });

  test('several are listed to choose from', async () => {
    const world = new World();
    world.control.listeners = listeners;
    const outcome = await world.deploy({ desired: image });
    expect(outcome.kind).toBe('refused');
    expect(outcome.reason).toContain(`east (${ids.east}), west (${ids.west})`);
    expect(outcome.advice).toContain('listener-id');
  });

  test.each([
    ['there is none', () => undefined],
    ['they are not listed', (world: World) => void world.control.lacks.add('listeners')],
  ])('%s: none is named', async (_, prepare) => {
    const world = new World();
    prepare(world);
    expect(await world.deploy({ desired: image })).toMatchObject({ kind: 'deployed' });
    expect(created(world)).toBeUndefined();
  });
});
