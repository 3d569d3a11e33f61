import { loggerTo } from '../../../logger.ts';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { KyselyPlugin } from 'kysely';
import { systemClock } from '../../../../src/kit/clock.ts';
import { Gateway } from '../../../../src/services/control/gateway/gateway.ts';
import { admitToAgent } from '../../../../src/services/control/api-keys/admit.ts';
import { hashApiKey, makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { workNotifier } from '../../../../src/services/control/listeners/work-notifier.ts';
import { createApp } from '../../../../src/services/control/api/app.ts';
import { encryptionPlugin } from '../../../../src/services/control/encryption/encryption-plugin.ts';
import { createHttpServer } from '../../../../src/services/control/server.ts';
import { createControlService } from '../../../../src/services/control/service.ts';
import type { OurControlService } from '../../../../src/services/control/service.ts';
import { controlMigrations, controlSchema } from '../../../../src/services/control/store/migrations.ts';
import { createTracing } from '../../../../src/services/control/tracing-projects/tracing.ts';
import { createStore } from '../../../../src/services/control/store/store.ts';
import type { Actor } from '../../../../src/services/control/store/audit.ts';
import type { ApiKeyScope } from '../../../../src/contract/control/api-key-scopes.ts';
import type { ControlStore } from '../../../../src/services/control/store/store.ts';
import type { ControlTables } from '../../../../src/services/control/store/tables.ts';
import { openDatabase } from '../../../../src/kit/postgres/database.ts';
import { migrate } from '../../../../src/kit/postgres/migrate.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { instantRollouts } from '../instant-rollouts.ts';
import { testCipher } from '../store/open-store.ts';
import { openUploads } from '../uploads/upload-places.ts';
import { fromGit, fromImage } from '../service-fixture.ts';

/** The ids of everything that a tenant has, as requests name them. */
export interface Belongings {
  tenant: string;
  apiKey: string;
  /** A live deployment from git, with a newer revision pending. */
  deployment: string;
  live: string;
  /** The pending revision. */
  revision: string;
  /** A deployment with an uploaded source, and the path that was issued for it. */
  uploading: string;
  objectPath: string;
  /** A deployment whose image is pushed. */
  pushed: string;
  listener: string;
  /** The claim that holds a listener's work. */
  claim: string;
  integration: string;
  /** Another key of the tenant. */
  key: string;
  /** A trust policy. */
  policy: string;
  /** A tracing project whose deployment is gone, and a run of it. */
  project: string;
  run: string;
}

/** A service of two tenants, with its whole HTTP interface, agents included. */
export interface TwoTenants {
  url: string;
  databaseUrl: string;
  app: ReturnType<typeof createApp>;
  store: ControlStore;
  owner: Belongings;
  stranger: Belongings;
  /** A key of the owner that was revoked. */
  revokedKey: string;
  /** The requests to the agents of both, by deployment. */
  requested: string[];
  logged: string[];
  /** How many statements were sent to the database during this. */
  statementsOf: (work: () => Promise<unknown>) => Promise<number>;
  close(): Promise<void>;
}

/** The issuer of the tokens that trust policies accept. */
export const trustedIssuer = 'https://issuer.test';

/** The value of the secrets of a tenant's deployments. */
export const canaryOf = (name: string): string => `canary-of-${name}`;

export async function openTwoTenants(): Promise<TwoTenants> {
  const postgres = await startTestPostgres();
  const database = openDatabase<ControlTables>({ url: postgres.url });
  await migrate(database.db, controlMigrations, { schema: controlSchema });
  let statements = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const store = createStore(database.db.withPlugin(counting), systemClock, encryptionPlugin(testCipher));
  const places = openUploads(store);
  const rollouts = instantRollouts(store);
  const notifier = workNotifier(systemClock);
  const tracing = createTracing(Buffer.alloc(32, 5));
  const logged: string[] = [];
  const log = loggerTo((message: string): void => void logged.push(message));
  let url = '';
  const serviceFor = (tenantId: string, _?: Actor, scopes?: readonly ApiKeyScope[]): OurControlService =>
    createControlService({
      store,
      rollouts,
      notifier,
      tenantId,
      scopes,
      oidcIssuers: [trustedIssuer],
      baseUrl: () => url,
      allowGit: [],
      uploads: places.uploads,
      registry: { address: { host: 'registry.test', path: '', protocol: 'https' }, pushToken: pushes },
    });
  const gateway = new Gateway({ authorize: admitToAgent(store), clock: systemClock, log });
  const app = createApp({
    ...store,
    serviceFor,
    fieldNames: 'contract',
    log,
    uploads: places.uploads,
    runs: { store, tracing },
  });
  const server = createHttpServer({ fetch: app.fetch, agents: gateway.handle, basePath: '' });
  url = await listen(server);

  const requested: string[] = [];
  const agents: Server[] = [];
  const makeTenant = async (name: string): Promise<Belongings> => {
    const made = await furnish(name, store, serviceFor, rollouts);
    const agent = createServer(agentOf(name, requested));
    agents.push(agent);
    gateway.switchTo(made.deployment, { origin: await listen(agent), token: 'token' });
    return made;
  };
  const owner = await makeTenant('owner');
  const stranger = await makeTenant('stranger');
  const revoked = makeApiKey();
  await store.addKey({ id: revoked.id, tenant_id: owner.tenant, hash: hashApiKey(revoked) });
  await store.revokeKey(revoked.id);

  return {
    url,
    store,
    databaseUrl: postgres.url,
    app,
    owner,
    stranger,
    revokedKey: revoked.text,
    requested,
    logged,
    async statementsOf(work) {
      const before = statements;
      await work();
      return statements - before;
    },
    async close() {
      notifier.close();
      for (const one of [server, ...agents]) {
        one.closeAllConnections();
        await new Promise((resolve) => one.close(resolve));
      }
      places.close();
      await database.close();
      await postgres.stop();
    },
  };
}

/** A registry that makes a token for every request. */
const pushes = async ({ tenantId }: { tenantId: string }) =>
  ({ kind: 'made', token: `push-${tenantId}`, repository: `registry.test/${tenantId}` }) as const;

async function furnish(
  name: string,
  store: ControlStore,
  serviceFor: (tenantId: string) => OurControlService,
  rollouts: ReturnType<typeof instantRollouts>,
): Promise<Belongings> {
  const tenant = await store.addTenant(name);
  const key = makeApiKey();
  await store.addKey({ id: key.id, tenant_id: tenant, hash: hashApiKey(key), name });
  const control = serviceFor(tenant);
  const secrets = [{ name: 'MODEL_KEY', value: canaryOf(name) }];
  rollouts.fate = 'live';
  const git = await control.createDeployment(fromGit({ name: `git-of-${name}`, secrets }));
  await rollouts.settled();
  rollouts.fate = 'held';
  const { latest_revision_id } = await control.createRevision(git.id, {}).then(() => control.getDeployment(git.id));
  const uploading = await control.createDeployment({
    name: `upload-of-${name}`,
    source: 'internal_source',
    source_config: {},
    source_revision_config: { graph_config_path: 'graph.json' },
    secrets,
  });
  const { object_path } = await control.requestUpload(uploading.id);
  const pushed = await control.createDeployment({
    name: `push-of-${name}`,
    source: 'internal_docker',
    source_config: {},
    source_revision_config: {},
    secrets,
  });
  const listener = await control.createListener({
    compute_type: 'k8s',
    compute_id: `cluster-of-${name}`,
    compute_config: { k8s_namespaces: [] },
  });
  await control.createDeployment(
    fromImage({ name: `image-of-${name}`, source_config: { listener_id: listener.id }, secrets }),
  );
  const work = await control.claimWork(listener.id, { holder: name, lease_seconds: 600 });
  const integration = await store.bindInstallation(tenant, 7, name);
  await store.putRepositories(integration.id, [
    {
      id: 1,
      name: `repository-of-${name}`,
      owner: name,
      url: `https://example.com/${name}`,
      defaultBranch: 'main',
    },
  ]);
  const further = await control.createApiKey({ name: `further-of-${name}` });
  const policy = await control.createTrustPolicy({
    name: `policy-of-${name}`,
    issuer: trustedIssuer,
    claims: { sub: `pipeline-of-${name}` },
    scopes: ['deploy'],
  });
  const project = await store.addTracingProject(tenant, `runs-of-${name}`);
  const run = randomUUID();
  const at = new Date().toISOString();
  const reported = {
    id: run,
    thread_id: null,
    assistant_id: name,
    graph_id: name,
    revision_id: null,
    error: null,
    tokens: null,
  };
  await store.putTracedRuns(project, [
    { ...reported, status: 'success', created_at: at, started_at: at, ended_at: at },
  ]);
  return {
    tenant,
    apiKey: key.text,
    deployment: git.id,
    live: git.latest_revision_id ?? '',
    revision: latest_revision_id ?? '',
    uploading: uploading.id,
    objectPath: object_path,
    pushed: pushed.id,
    listener: listener.id,
    claim: work?.claim_id ?? '',
    integration: integration.id,
    key: further.id,
    policy: policy.id,
    project,
    run,
  };
}

/** The same belongings with unknown ids. */
export function imagined(one: Belongings): Belongings {
  const id = randomUUID;
  return {
    ...one,
    deployment: id(),
    live: id(),
    revision: id(),
    uploading: id(),
    objectPath: `uploads/${id()}/${one.objectPath.split('/')[2]}`,
    pushed: id(),
    listener: id(),
    claim: id(),
    integration: id(),
    key: makeApiKey().id,
    project: id(),
    run: id(),
  };
}

/** An agent that records its requests and responds with a stream. */
const agentOf =
  (name: string, requested: string[]): RequestListener =>
  (request, response) => {
    requested.push(`${name} ${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: values\ndata: "${canaryOf(name)}"\n\n`);
    response.end();
  };

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}`;
}
