import { createTokenExchange } from '../../../src/services/control/trust/exchange.ts';
import { createTokenVerifier } from '../../../src/services/control/trust/verify-token.ts';
import { loggerTo } from '../../logger.ts';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { systemClock } from '../../../src/kit/clock.ts';
import type { Clock } from '../../../src/kit/clock.ts';
import { ServiceError } from '../../../src/contract/service-error.ts';
import { hashApiKey, makeApiKey, readApiKey } from '../../../src/services/control/api-keys/api-key.ts';
import { createAgentTokens, type AgentTokens } from '../../../src/services/control/compute/agent-tokens.ts';
import { workNotifier } from '../../../src/services/control/listeners/work-notifier.ts';
import { createApp } from '../../../src/services/control/api/app.ts';
import { createHttpServer } from '../../../src/services/control/server.ts';
import { createTracing } from '../../../src/services/control/tracing-projects/tracing.ts';
import { createControlService } from '../../../src/services/control/service.ts';
import type { OurControlService } from '../../../src/services/control/service.ts';
import type { Actor } from '../../../src/services/control/store/audit.ts';
import type { ControlStore } from '../../../src/services/control/store/store.ts';
import type { ServiceDependencies } from '../../../src/services/control/service/settings.ts';
import { openUploads, tarball } from './uploads/upload-places.ts';
import type { PutTarball } from './uploads/upload-places.ts';
import { httpControl } from './http-control.ts';
import { instantRollouts } from './instant-rollouts.ts';
import type { InstantRollouts } from './instant-rollouts.ts';
import { openTestStore } from './store/open-store.ts';

/** A control service over HTTP with one tenant, its own database and instant rollouts. */
export interface ServiceFixture {
  control: OurControlService;
  /** The same service for the same key, without the socket. */
  inProcess: OurControlService;
  /** Another tenant of the same service. */
  stranger: OurControlService;
  store: ControlStore;
  tenantId: string;
  rollouts: InstantRollouts;
  /** Issues the tokens of agents. */
  agentTokens: AgentTokens;
  /** What the service wrote to its log. */
  logged: string[];
  /** Its URL and key. */
  baseUrl: string;
  apiKey: string;
  /** The database with its tables. */
  databaseUrl: string;
  /** Uploads a tarball to an upload URL without a key. */
  put: PutTarball;
  close(): Promise<void>;
}

export const allowedFolder = '/srv/git';

/** Tracing with the key that test agents report runs with. */
export const testTracing = createTracing(Buffer.alloc(32, 5));

export interface FixtureSettings extends Pick<
  ServiceDependencies,
  'hosting' | 'maxPreviews' | 'integrations' | 'registry' | 'logNotifier' | 'holds' | 'pythonPackages' | 'oidcIssuers'
> {
  /** Before every path; none by default. */
  prefix?: string;
  /** A clock that ticks with each reading by default. */
  clock?: Clock;
}

export async function openServiceFixture({
  prefix = '',
  clock,
  ...more
}: FixtureSettings = {}): Promise<ServiceFixture> {
  const opened = await openTestStore(clock);
  const notifier = workNotifier(systemClock);
  const { store } = opened;
  const places = openUploads(store);
  const rollouts = instantRollouts(store);
  const keyOf = async (tenantId: string) => {
    const key = makeApiKey();
    await store.addKey({ id: key.id, tenant_id: tenantId, hash: hashApiKey(key) });
    return key.text;
  };
  const tenantId = await store.addTenant('one');
  const strangerId = await store.addTenant('two');
  const apiKey = await keyOf(tenantId);
  const strangersKey = await keyOf(strangerId);
  const agentTokens = createAgentTokens();
  let baseUrl = '';
  const serviceFor = (tenant: string, by?: Actor) =>
    createControlService({
      store,
      rollouts,
      notifier,
      tenantId: tenant,
      by,
      baseUrl: () => baseUrl,
      allowGit: [allowedFolder],
      uploads: places.uploads,
      tracing: testTracing,
      agentTokens,
      ...more,
    });
  const logged: string[] = [];
  const log = loggerTo((message) => logged.push(message));
  const app = createApp({
    serviceFor,
    findKey: store.findKey,
    noteKeyUse: store.noteKeyUse,
    fieldNames: 'contract',
    log,
    uploads: places.uploads,
    runs: { store, tracing: testTracing, agentTokens },
    exchangeToken: createTokenExchange({
      store,
      log,
      clock: clock ?? systemClock,
      verify: createTokenVerifier({ issuers: more.oidcIssuers ?? [], clock: clock ?? systemClock }),
    }),
  });
  const server = createHttpServer({ fetch: app.fetch, agents: () => false, basePath: prefix });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  baseUrl = `http://127.0.0.1:${address.port}${prefix}`;
  return {
    control: httpControl(baseUrl, apiKey),
    inProcess: serviceFor(tenantId, { kind: 'key', keyId: readApiKey(apiKey)?.id ?? '', keyName: 'unnamed' }),
    stranger: httpControl(baseUrl, strangersKey),
    store,
    tenantId,
    rollouts,
    agentTokens,
    logged,
    baseUrl,
    apiKey,
    databaseUrl: opened.url,
    put: (url, body, headers) => fetch(url, tarball(body, headers)),
    close: async () => {
      await rollouts.settled();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      places.close();
      await opened.close();
    },
  };
}

/** A request for a deployment whose source is uploaded later. */
export const fromUpload = (changes: Record<string, unknown> = {}) => ({
  name: `upload-${(names += 1)}`,
  source: 'internal_source',
  source_config: { ...config(changes['source_config']) },
  source_revision_config: { graph_config_path: 'langgraph.json', ...config(changes['source_revision_config']) },
  secrets: [],
  ...without(changes),
});

let names = 0;

/** A request for a deployment from a git repository, with a unique name. */
export const fromGit = (changes: Record<string, unknown> = {}) => ({
  name: `agent-${(names += 1)}`,
  source: 'github',
  source_config: { repo_url: 'https://example.com/acme/agent', ...config(changes['source_config']) },
  source_revision_config: {
    repo_ref: 'main',
    graph_config_path: 'graph.json',
    ...config(changes['source_revision_config']),
  },
  secrets: [],
  ...without(changes),
});

/** A request for a deployment from an image. */
export const fromImage = (changes: Record<string, unknown> = {}) => ({
  name: `agent-${(names += 1)}`,
  source: 'external_docker',
  source_config: { ...config(changes['source_config']) },
  source_revision_config: { image_uri: 'registry.example.com/agent:1', ...config(changes['source_revision_config']) },
  secrets: [],
  ...without(changes),
});

const config = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
const without = (changes: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(changes).filter(([field]) => !/^source_(revision_)?config$/.test(field)));

/** How a call was rejected: its status and detail, or the locations of a 422. */
export async function refusalOf(call: Promise<unknown>): Promise<{ status: number; detail: string; at: string[] }> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceError) || error.status === undefined) {
    throw new Error('the call was not refused', { cause: error });
  }
  return {
    status: error.status,
    detail: error.detail ?? '',
    at: error.problems.map(({ loc }) => loc.join('.')),
  };
}

/** An id that doesn't exist. */
export const unknownId = (): string => randomUUID();
