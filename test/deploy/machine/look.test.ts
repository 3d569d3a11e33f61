import { describe, expect, test } from 'vitest';
import type { Deployment } from '../../../src/contract/control/deployment.ts';
import type { GithubRepository } from '../../../src/contract/control/integration.ts';
import { goesLive, serviceError } from './control-model.ts';
import { first, github, image, running, second, workflowOn, DeployFixture } from './deploy-fixture.ts';

const ids = {
  east: '8b6e4c1e-0000-4000-8000-000000000001',
  west: '8b6e4c1e-0000-4000-8000-000000000002',
};
const another = (fixture: DeployFixture, id: string, name: string): Deployment => {
  if (!fixture.control.service.deployment) throw new Error('there is no deployment');
  return { ...fixture.control.service.deployment, id, name };
};

describe('the one commit that may be deployed', () => {
  const moved = { commit: second, head: first };

  test('is built by a service that takes commits, although the ref has moved on', async () => {
    const fixture = await running();
    fixture.control.pinsCommits = true;
    fixture.control.scripts.push(goesLive(second));
    expect(await fixture.deploy(moved)).toMatchObject({ kind: 'deployed' });
    expect(fixture.control.pinned.at(-1)).toBe(second);
  });

  test.each([
    ['a service without that is sent nothing', moved, false],
    ['neither is one that has it, for a shortened commit', { ...moved, commit: second.slice(0, 12) }, true],
  ])('%s', async (_, request, pinsCommits) => {
    const fixture = await running();
    fixture.control.pinsCommits = pinsCommits;
    expect(await fixture.deploy(request)).toMatchObject({ kind: 'refused', changed: false });
    expect(fixture.control.count('patch')).toBe(0);
  });
});

describe('found by its name', () => {
  test('on any page', async () => {
    const fixture = await running();
    fixture.control.others = Array.from({ length: 250 }, (_, index) => another(fixture, `o${index}`, `agent-${index}`));
    expect(await fixture.deploy()).toMatchObject({ kind: 'unchanged', deploymentId: 'd1' });
    expect(fixture.control.count('list')).toBe(3);
  });

  test('only by the exact name', async () => {
    const fixture = await running();
    fixture.control.others = [another(fixture, 'o1', 'agent-staging')];
    expect(await fixture.deploy()).toMatchObject({ deploymentId: 'd1' });
  });

  test('fails on two deployments with one name', async () => {
    const fixture = await running();
    fixture.control.others = [another(fixture, 'o1', 'agent')];
    for (const mode of ['deploy', 'plan', 'smoke', 'rollback'] as const) {
      const outcome = await fixture.deploy({ mode });
      expect(outcome).toMatchObject({ kind: 'refused', changed: false });
      expect(outcome.reason).toContain('2 deployments are named agent: o1, d1');
      expect(outcome.advice).toContain('deployment-id');
    }
  });

  test('reads the deployment for secrets that a list leaves out', async () => {
    const fixture = await running();
    fixture.control.listsSecrets = false;
    fixture.control.scripts.push(goesLive(first));
    const outcome = await fixture.deploy({ desired: { ...github, secrets: [{ name: 'NEW', value: 'new-value' }] } });
    expect(outcome).toMatchObject({ kind: 'deployed' });
    expect(fixture.control.sent.at(-1)?.secrets?.map(({ name }) => name)).toEqual(['TOKEN', 'NEW']);
  });

  test('stops listing if the service repeats its first page', async () => {
    const fixture = await running();
    const page = Array.from({ length: 100 }, (_, index) => another(fixture, `o${index}`, `agent-${index}`));
    let requested = 0;
    fixture.control.listDeployments = async () => {
      requested += 1;
      return { resources: page, offset: 0 };
    };
    await fixture.deploy({ mode: 'plan' });
    expect(requested).toBe(2);
  });

  test('notes once that the service does not list deployments, and continues', async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.add('lists');
    const outcome = await fixture.deploy();
    expect(outcome).toMatchObject({ kind: 'deployed', deploymentId: 'd1' });
    expect(outcome.notes.filter((note) => note.includes('does not list deployments'))).toHaveLength(1);
  });
});

test.each(['plan', 'smoke', 'deploy'] as const)(
  '%s: an address that lists nothing at all is no control service',
  async (mode) => {
    const fixture = new DeployFixture();
    fixture.control.lacks.add('lists');
    const lacking = (operation: string) => () => Promise.reject(serviceError('missing', operation, { status: 404 }));
    fixture.control.listListeners = lacking('list listeners');
    fixture.control.listIntegrations = lacking('list integrations');
    const outcome = await fixture.deploy({ mode });
    expect(outcome).toMatchObject({ kind: 'refused', advice: expect.stringContaining('base-url') });
  },
);

test('lists nothing if the id is given', async () => {
  const fixture = await running();
  expect(await fixture.deploy({ desired: { ...github, deploymentId: 'd1' } })).toMatchObject({ kind: 'unchanged' });
  expect(fixture.control.count('list')).toBe(0);
});

test('accepts a missing live revision', async () => {
  const fixture = await running();
  fixture.control.push(goesLive(second));
  fixture.control.forgotten = 'r1';
  expect(await fixture.deploy({ workflow: workflowOn(second) })).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
});

test('adopts a revision of this commit behind a newer one', async () => {
  const fixture = await running();
  fixture.control.push([
    { after: 0, status: 'BUILDING', commit: second },
    { after: 30_000, status: 'DEPLOYED', commit: second },
  ]);
  fixture.control.push([{ after: 0, status: 'QUEUED' }]);
  const outcome = await fixture.deploy({ workflow: workflowOn(second) });
  expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2', changed: false });
});

describe('an integration that is not given', () => {
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
  const created = (fixture: DeployFixture) => {
    const [request] = fixture.control.sent;
    return request?.source_config?.integration_id;
  };

  test('is the one that reaches the repository', async () => {
    const fixture = new DeployFixture();
    fixture.control.integrations = integrations;
    fixture.control.repositories.set(ids.west, [repository('other'), repository('agent')]);
    const outcome = await fixture.deploy();
    expect(created(fixture)).toBe(ids.west);
    expect(outcome.notes.join()).toContain('using integration beta');
  });

  test('several that reach it are listed to choose from', async () => {
    const fixture = new DeployFixture();
    fixture.control.integrations = integrations;
    for (const { id } of integrations) fixture.control.repositories.set(id, [repository('agent')]);
    const outcome = await fixture.deploy();
    expect(outcome).toMatchObject({ kind: 'refused', changed: false });
    expect(outcome.reason).toContain(`acme (${ids.east}), beta (${ids.west})`);
  });

  test('is the only one, if no repositories are listed', async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.add('repositories');
    fixture.control.integrations = integrations.slice(0, 1);
    await fixture.deploy();
    expect(created(fixture)).toBe(ids.east);
  });

  test.each([
    ['none reaches it', (fixture: DeployFixture) => void (fixture.control.integrations = integrations)],
    ['there is none', () => undefined],
    ['they are not listed', (fixture: DeployFixture) => void fixture.control.lacks.add('integrations')],
  ])('%s: chooses none, and says so', async (_, prepare) => {
    const fixture = new DeployFixture();
    prepare(fixture);
    const outcome = await fixture.deploy();
    expect(created(fixture)).toBeUndefined();
    expect(outcome.notes.join()).toContain('none is named');
  });

  test('is not looked up if given, or if the deployment exists', async () => {
    const fixture = new DeployFixture();
    await fixture.deploy({ desired: { ...github, integrationId: ids.east } });
    await fixture.deploy();
    expect(fixture.control.count('integrations')).toBe(0);
  });
});

describe('a listener that is not given', () => {
  const listeners = [
    { id: ids.east, compute_type: 'k8s', compute_id: 'east', compute_config: { k8s_namespaces: ['a', 'b'] } },
    { id: ids.west, compute_type: 'k8s', compute_id: 'west', compute_config: { k8s_namespaces: ['c'] } },
  ];
  const created = (fixture: DeployFixture) => fixture.control.sent[0]?.source_config?.listener_id;

  test('is the only one', async () => {
    const fixture = new DeployFixture();
    fixture.control.listeners = listeners.slice(0, 1);
    await fixture.deploy({ desired: image });
    expect(created(fixture)).toBe(ids.east);
  });

  test('is the only one that serves the namespace', async () => {
    const fixture = new DeployFixture();
    fixture.control.listeners = listeners;
    await fixture.deploy({ desired: { ...image, k8sNamespace: 'c' } });
    expect(created(fixture)).toBe(ids.west);
  });

  test('several are listed to choose from', async () => {
    const fixture = new DeployFixture();
    fixture.control.listeners = listeners;
    const outcome = await fixture.deploy({ desired: image });
    expect(outcome.kind).toBe('refused');
    expect(outcome.reason).toContain(`east (${ids.east}), west (${ids.west})`);
    expect(outcome.advice).toContain('listener-id');
  });

  test.each([
    ['there is none', () => undefined],
    ['they are not listed', (fixture: DeployFixture) => void fixture.control.lacks.add('listeners')],
  ])('%s: chooses none', async (_, prepare) => {
    const fixture = new DeployFixture();
    prepare(fixture);
    expect(await fixture.deploy({ desired: image })).toMatchObject({ kind: 'deployed' });
    expect(created(fixture)).toBeUndefined();
  });
});
