import { createTokenExchange } from '../../../../src/services/control/trust/exchange.ts';
import { createTokenVerifier } from '../../../../src/services/control/trust/verify-token.ts';
import { loggerTo } from '../../../logger.ts';
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { TracedRun } from '../../../../src/contract/control/tracing-project.ts';
import { hashApiKey, makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { workNotifier } from '../../../../src/services/control/listeners/work-notifier.ts';
import { createApp } from '../../../../src/services/control/api/app.ts';
import type { Integrations } from '../../../../src/services/control/integrations/integrations.ts';
import { GitHubIntegrationError } from '../../../../src/services/control/integrations/github-error.ts';
import type { Registry } from '../../../../src/services/control/registry/registry.ts';
import { createSessions } from '../../../../src/services/control/sessions/sessions.ts';
import { createControlService } from '../../../../src/services/control/service.ts';
import type { ControlStore } from '../../../../src/services/control/store/store.ts';
import { instantRollouts } from '../instant-rollouts.ts';
import { openTestStore } from '../store/open-store.ts';
import { openUploads } from '../uploads/upload-places.ts';
import { fromGit, fromImage, testTracing } from '../service-fixture.ts';

/** A resource, as the values of its path and query parameters. */
export type Thing = Readonly<Record<string, string>>;

/** A service that is called in process, with initial data. */
export interface FuzzFixture {
  app: ReturnType<typeof createApp>;
  store: ControlStore;
  databaseUrl: string;
  tenantId: string;
  apiKey: string;
  /** The tenant's resources, each with its path parameters: a revision with its deployment. */
  own: Thing[];
  /** Creates one more of each resource of the tenant. */
  furnish(): Promise<void>;
  /** Claims the free work of the tenant's listeners, which is faster than creating more. */
  claimAgain(): Promise<void>;
  /** Ids of another tenant's resources. */
  foreign: string[];
  /** What the service wrote to its log. */
  logged: string[];
  /** Resolves when all requested rollouts are done. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a service with two tenants, each with deployments of every source and a listener. */
export async function openFuzzFixture(): Promise<FuzzFixture> {
  const opened = await openTestStore(systemClock);
  const { store } = opened;
  const places = openUploads(store);
  const rollouts = instantRollouts(store);
  // Closed, so that no request waits for work.
  const notifier = workNotifier(systemClock);
  notifier.close();
  const logged: string[] = [];
  const registry = failingRegistry();
  const integrations = failingIntegrations(store);
  const serviceFor = (tenantId: string) =>
    createControlService({
      store,
      rollouts,
      notifier,
      tenantId,
      baseUrl: () => 'http://service.test',
      allowGit: ['/srv/git'],
      uploads: places.uploads,
      tracing: testTracing,
      registry,
      integrations,
    });
  const app = createApp({
    serviceFor,
    findKey: store.findKey,
    fieldNames: 'contract',
    log: loggerTo((message) => logged.push(message)),
    uploads: places.uploads,
    runs: { store, tracing: testTracing },
    exchangeToken: createTokenExchange({
      log: loggerTo(() => undefined),
      store,
      clock: systemClock,
      verify: createTokenVerifier({ issuers: [], clock: systemClock }),
    }),
    sessions: createSessions({
      store,
      linkKeyId: '',
      publicUrl: 'http://service.test',
      basePath: '',
      clock: systemClock,
    }),
  });
  const tenants = [await store.addTenant('one'), await store.addTenant('two')] as const;
  const key = makeApiKey();
  await store.addKey({ id: key.id, tenant_id: tenants[0], hash: hashApiKey(key) });

  async function furnish(tenantId: string): Promise<Thing[]> {
    const control = serviceFor(tenantId);
    const listener = await control.createListener({
      compute_type: 'k8s',
      compute_id: `cluster-${(clusters += 1)}`,
      compute_config: {},
    });
    const integration = await store.bindInstallation(tenantId, 7, 'acme');
    const url = 'https://github.com/acme/agent';
    await store.putRepositories(integration.id, [{ id: 1, name: 'agent', owner: 'acme', url, defaultBranch: 'main' }]);
    const made: Thing[] = [
      { listener_id: listener.id },
      { integration_id: integration.id, owner: 'acme', repo: 'agents' },
    ];
    for (const request of [
      fromGit(),
      fromGit(),
      fromImage(),
      ...Array.from({ length: 3 }, () => fromImage({ source_config: { listener_id: listener.id } })),
      {
        ...fromGit(),
        source: 'internal_source',
        source_config: {},
        source_revision_config: { graph_config_path: 'a.json' },
      },
      ...Array.from({ length: 2 }, () => ({
        ...fromGit(),
        source: 'internal_docker',
        source_config: {},
        source_revision_config: {},
      })),
    ]) {
      const { id, name, source, latest_revision_id } = await control.createDeployment(request);
      made.push({ deployment_id: id, revision_id: latest_revision_id ?? '' });
      const project = await store.findTracingProject(tenantId, name);
      made.push(await projectWithRun(project?.id ?? ''));
      if (source === 'internal_source') made.push(addressIn(id, await control.requestUpload(id)));
    }
    return [...made, ...(await claimsOf(tenantId, listener.id))];
  }

  async function claimsOf(tenantId: string, listenerId: string): Promise<Thing[]> {
    const made: Thing[] = [];
    for (;;) {
      const claim = await serviceFor(tenantId).claimWork(listenerId, { holder: 'first', lease_seconds: 600 });
      if (!claim) return made;
      made.push({ listener_id: listenerId, claim_id: claim.claim_id });
    }
  }

  /** A tracing project with one of its runs, and the token that agents report runs with. */
  async function projectWithRun(projectId: string): Promise<Thing> {
    const run_id = randomUUID();
    await store.putTracedRuns(projectId, [tracedRun(run_id)]);
    return { project_id: projectId, run_id, token: testTracing.tokenOf(projectId) };
  }

  const foreign = (await furnish(tenants[1])).flatMap((thing) => Object.values(thing));
  const own: Thing[] = [{ api_key_id: key.id }, { asset: 'start.js' }, { asset: 'swagger-ui.css' }];
  await store.markKept(key.id, 'the key of the test');
  return {
    app,
    store,
    databaseUrl: opened.url,
    tenantId: tenants[0],
    apiKey: key.text,
    own,
    furnish: async () => {
      own.push(...(await furnish(tenants[0])));
      await rollouts.settled();
    },
    claimAgain: async () => {
      const listeners = own.filter((thing) => 'listener_id' in thing && !('claim_id' in thing));
      for (const { listener_id = '' } of listeners) own.push(...(await claimsOf(tenants[0], listener_id)));
    },
    foreign,
    logged,
    settled: () => rollouts.settled(),
    close: async () => {
      await rollouts.settled();
      places.close();
      await opened.close();
    },
  };
}

let clusters = 0;

/** An image registry that is unreachable, refuses, and creates a token, in turn. */
function failingRegistry(): Registry {
  const ends = [
    { kind: 'unreachable', why: 'The image registry registry.test can’t be reached.' },
    { kind: 'refused', why: 'The image registry registry.test made no token.' },
    { kind: 'made', token: 'a-token', repository: 'registry.test/agent' },
  ] as const;
  let requested = 0;
  return {
    address: { host: 'registry.test', path: '', protocol: 'https' },
    pushToken: async () => ends[requested++ % ends.length] ?? ends[0],
  };
}

/** A GitHub App whose every third request to GitHub fails. */
function failingIntegrations(store: ControlStore): Integrations {
  const requested = { list: 0, repositories: 0, branches: 0 };
  const gitHub = async (operation: keyof typeof requested): Promise<void> => {
    requested[operation] += 1;
    if (requested[operation] % 3 === 0) throw new GitHubIntegrationError('GitHub could not be reached.', undefined);
  };
  return {
    list: (tenantId) => gitHub('list').then(() => store.listIntegrations(tenantId)),
    repositories: ({ id }) => gitHub('repositories').then(() => store.listRepositories(id)),
    branches: () => gitHub('branches').then(() => [{ name: 'main', sha: '0'.repeat(40) }]),
    problem: async () => undefined,
    cloneToken: async () => ({ ok: false, reason: 'Nothing is cloned here.' }),
    endToken: async () => undefined,
  };
}

/** The parameters of an upload URL. */
function addressIn(deploymentId: string, { upload_url }: { upload_url: string }): Thing {
  const { pathname, searchParams } = new URL(upload_url);
  return {
    deployment_id: deploymentId,
    object_name: pathname.split('/').at(-1) ?? '',
    expires: searchParams.get('expires') ?? '',
    signature: searchParams.get('signature') ?? '',
  };
}

/** A run as an agent reports it. */
export const tracedRun = (id: string): TracedRun => ({
  id,
  thread_id: null,
  assistant_id: 'agent',
  graph_id: 'agent',
  revision_id: null,
  status: 'success',
  error: null,
  tokens: null,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: null,
  ended_at: '2026-01-01T00:00:00.000Z',
});
