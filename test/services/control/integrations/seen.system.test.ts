import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  CloneToken,
  GithubApp,
  Installation,
  InstalledRepository,
} from '../../../../src/services/control/integrations/github-app.ts';
import { GitHubIntegrationError } from '../../../../src/services/control/integrations/github-error.ts';
import { createIntegrations, type Integrations } from '../../../../src/services/control/integrations/integrations.ts';
import { operatorOf } from '../../../../src/services/control/api-keys/operator.ts';
import { fromGit, openServiceFixture, refusalOf } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

/** An App whose GitHub behaves as the test sets it. */
function appOf() {
  const self = {
    installed: [] as Installation[],
    holds: new Map<number, InstalledRepository[]>(),
    failure: undefined as GitHubIntegrationError | undefined,
    requested: [] as string[],
  };
  const ask = <T>(what: string, answer: () => T): Promise<T> => {
    self.requested.push(what);
    return self.failure ? Promise.reject(self.failure) : Promise.resolve(answer());
  };
  const app: GithubApp = {
    origin: 'https://github.com',
    installations: () => ask('installations', () => self.installed),
    repositories: (id) => ask(`repositories ${id}`, () => self.holds.get(id) ?? []),
    branches: (id, { name }) =>
      ask(`branches ${id}`, () =>
        self.holds.get(id)?.some((each) => each.name === name) ? [{ name: 'main', sha: 'a'.repeat(40) }] : undefined,
      ),
    cloneToken: (id, { name }) =>
      ask(`token ${id}`, (): CloneToken => {
        const held = self.holds.get(id)?.some((each) => each.name === name);
        return held ? { kind: 'token', token: `token-of-${name}` } : { kind: 'not-held' };
      }),
    endToken: () => Promise.resolve(),
  };
  return { ...self, self, app };
}

const repository = (owner: string, name: string, id: number): InstalledRepository => ({
  id,
  owner,
  name,
  url: `https://github.com/${owner}/${name}`,
  defaultBranch: 'main',
});

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  let now = Date.UTC(2030, 0, 1);
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const github = appOf();
  let integrations: Integrations;
  beforeAll(async () => {
    fixture = await openServiceFixture({
      integrations: {
        list: (tenant) => integrations.list(tenant),
        repositories: (integration) => integrations.repositories(integration),
        branches: (integration, named) => integrations.branches(integration, named),
        problem: (integration, url) => integrations.problem(integration, url),
        cloneToken: (tenant, id, url) => integrations.cloneToken(tenant, id, url),
        endToken: (token) => integrations.endToken(token),
      },
    });
    fixture.rollouts.fate = 'held';
    integrations = createIntegrations(github.app, fixture.store, clock);
    github.self.installed = [
      { id: 11, account: 'acme', isSuspended: false },
      { id: 12, account: 'globex', isSuspended: false },
    ];
    github.self.holds.set(11, [repository('acme', 'agent', 1), repository('acme', 'other', 2)]);
  });
  afterAll(() => fixture.close());
  const operator = () => operatorOf(fixture.store);
  const aMinuteLater = (): void => {
    now += 61_000;
  };
  const names = async (control = fixture.control) => {
    aMinuteLater();
    return (await control.listIntegrations()).map(({ name }) => name);
  };
  const acme = async () => (await fixture.control.listIntegrations()).find(({ name }) => name === 'acme')?.id ?? '';

  test('with several tenants, each sees only the installations bound to it', async () => {
    expect(await names()).toEqual([]);
    expect(await names(fixture.stranger)).toEqual([]);
  });

  test(
    'the operator binds an installation to one tenant only',
    { meta: { claims: ['control.integration.id'] } },
    async () => {
      await operator().bindInstallation(11, fixture.tenantId);
      expect(await fixture.control.listIntegrations()).toEqual([
        { id: expect.stringMatching(/^[0-9a-f-]{36}$/), installation_id: 11, name: 'acme' },
      ]);
      expect(await names(fixture.stranger)).toEqual([]);
      expect(await refusalOf(fixture.stranger.listRepositories(await acme()))).toMatchObject({ status: 404 });
    },
  );

  test('lists the repositories that GitHub returns', async () => {
    const id = await acme();
    expect(await fixture.control.listRepositories(id)).toEqual([
      {
        host_integration_id: id,
        id: 1,
        name: 'agent',
        owner: 'acme',
        url: 'https://github.com/acme/agent',
        default_branch: 'main',
      },
      {
        host_integration_id: id,
        id: 2,
        name: 'other',
        owner: 'acme',
        url: 'https://github.com/acme/other',
        default_branch: 'main',
      },
    ]);
  });

  test('lists the branches of a repository that the installation reaches', async () => {
    const id = await acme();
    expect(await fixture.control.listBranches(id, 'acme', 'agent')).toEqual([
      { name: 'main', commit_sha: 'a'.repeat(40) },
    ]);
    expect(await refusalOf(fixture.control.listBranches(id, 'acme', 'secret'))).toMatchObject({ status: 404 });
    expect(await refusalOf(fixture.stranger.listBranches(id, 'acme', 'agent'))).toMatchObject({ status: 404 });
  });

  test('requests GitHub once a minute, and once for concurrent calls', async () => {
    aMinuteLater();
    github.self.requested.length = 0;
    await Promise.all(Array.from({ length: 10 }, () => fixture.control.listIntegrations()));
    expect(github.self.requested).toEqual(['installations']);
    aMinuteLater();
    await fixture.control.listIntegrations();
    expect(github.self.requested).toEqual(['installations', 'installations']);
  });

  test('hides a suspended or deleted installation, and shows it again under its id', async () => {
    const id = await acme();
    const [first, ...others] = github.self.installed;
    if (!first) throw new Error('nothing is installed');
    github.self.installed = [{ ...first, isSuspended: true }, ...others];
    expect(await names()).toEqual([]);
    expect(await refusalOf(fixture.control.listRepositories(id))).toMatchObject({ status: 404 });
    github.self.installed = others;
    expect(await names()).toEqual([]);
    github.self.installed = [first, ...others];
    expect(await names()).toEqual(['acme']);
    expect(await acme()).toBe(id);
  });

  test('shows a renamed account under its new name', async () => {
    github.self.installed = github.self.installed.map((each) =>
      each.id === 11 ? { ...each, account: 'acme-corp' } : each,
    );
    expect(await names()).toEqual(['acme-corp']);
    github.self.installed = github.self.installed.map((each) => (each.id === 11 ? { ...each, account: 'acme' } : each));
    expect(await names()).toEqual(['acme']);
  });

  test('hides an unbound installation, and keeps its id when bound again', async () => {
    const id = await acme();
    await operator().unbindInstallation(11, fixture.tenantId);
    expect(await names()).toEqual([]);
    await expect(operator().unbindInstallation(11, fixture.tenantId)).rejects.toThrow('does not have');
    await operator().bindInstallation(11, fixture.tenantId);
    expect(await names()).toEqual(['acme']);
    expect(await acme()).toBe(id);
  });

  test('the operator sees all installations and their tenants', async () => {
    expect(await operator().listInstallations()).toEqual([
      { installation_id: '11', account: 'acme', is_suspended: false, is_gone: false, tenant_ids: [fixture.tenantId] },
      { installation_id: '12', account: 'globex', is_suspended: false, is_gone: false, tenant_ids: [] },
    ]);
  });

  test('responds with 502 and the reason when GitHub fails, without stale data', async () => {
    aMinuteLater();
    github.self.failure = new GitHubIntegrationError('Could not list installations: GitHub responded 401.', 401);
    expect(await refusalOf(fixture.control.listIntegrations())).toMatchObject({
      status: 502,
      detail: expect.stringContaining('responded 401'),
    });
    github.self.failure = undefined;
    expect(await names()).toEqual(['acme']);
  });

  const requested = (repo_url: string, integration_id: string) =>
    fixture.control.createDeployment(fromGit({ source_config: { repo_url, integration_id } }));

  test(
    'accepts a repository of the installation',
    { meta: { claims: ['control.source-config.integration-id-origin'] } },
    async () => {
      const id = await acme();
      expect(await requested('https://github.com/Acme/agent.git', id)).toMatchObject({
        source_config: { integration_id: id },
      });
      expect(
        await refusalOf(requested('https://github.com/acme/agent', '00000000-0000-4000-8000-000000000000')),
      ).toMatchObject({
        status: 400,
      });
    },
  );

  test.each([
    ['outside the installation', 'https://github.com/acme/secret', 'does not hold'],
    ['of another owner', 'https://github.com/globex/agent', 'does not hold'],
    ['of another GitHub', 'https://git.example.com/acme/agent', 'is no repository of https://github.com'],
  ])('rejects a repository %s', async (_, url, said) => {
    expect(await refusalOf(requested(url, await acme()))).toMatchObject({
      status: 400,
      detail: expect.stringContaining(said),
    });
  });

  test('accepts an unverified repository while GitHub is down; the clone fails later', async () => {
    const id = await acme();
    aMinuteLater();
    github.self.failure = new GitHubIntegrationError('GitHub is away.', undefined);
    const made = await requested('https://github.com/acme/secret', id);
    github.self.failure = undefined;
    const url = made.source_config.repo_url ?? '';
    expect(await integrations.cloneToken(fixture.tenantId, id, url)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('does not hold'),
    });
  });

  test('issues tokens only for the tenant’s own integration and its repositories', async () => {
    const id = await acme();
    const url = 'https://github.com/acme/agent';
    expect(await integrations.cloneToken(fixture.tenantId, id, url)).toEqual({ ok: true, value: 'token-of-agent' });
    const foreign = await integrations.cloneToken('00000000-0000-4000-8000-000000000000', id, url);
    expect(foreign).toMatchObject({ ok: false, reason: expect.stringContaining('not there any more') });
    expect(await integrations.cloneToken(fixture.tenantId, id, 'https://other.test/acme/agent')).toMatchObject({
      ok: false,
    });
  });
});
