import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../../kit/clock.ts';
import type { FieldSpelling } from '../../contract/control/aliases.ts';
import { openDatabase } from '../../kit/postgres/database.ts';
import { migrate } from '../../kit/postgres/migrate.ts';
import { placesForContainers } from '../../kit/postgres/embedded/settings.ts';
import { startRelay } from '../../kit/postgres/relay/relay.ts';
import { retryWhileUnavailable } from '../../kit/postgres/unavailable.ts';
import { resolveDatabase } from '../../kit/postgres/resolve-database.ts';
import { readPythonPackages } from './builds/generated-lock.ts';
import { createAgentTokens } from './compute/agent-tokens.ts';
import type { Compute } from './compute/compute.ts';
import { localCompute, type ComputeChoice } from './compute/local-compute.ts';
import { allowedFolders, takeDataFolder } from './folders.ts';
import { isAgentsHost } from './gateway/agents-origin.ts';
import { Gateway } from './gateway/gateway.ts';
import { createHealthRecorder } from './health/recorder.ts';
import { startSampler } from './health/sampler.ts';
import { githubApp, type GithubAppDependencies } from './integrations/github-app.ts';
import { createIntegrations } from './integrations/integrations.ts';
import { workNotifier } from './listeners/work-notifier.ts';
import { admitToAgent } from './api-keys/admit.ts';
import { createSessions } from './sessions/sessions.ts';
import { createRetention } from './retention/retention.ts';
import { ensureSecret } from './api-keys/secret-file.ts';
import { readApiKey } from './api-keys/api-key.ts';
import { ensureInstallationKey } from './api-keys/installation-key.ts';
import { changeNotifier, hearChanges } from './logs/change-notifier.ts';
import type { WayToDatabase } from './rollouts/agent-database.ts';
import type { RolloutStep } from './rollouts/rollout-job.ts';
import { startScalingToZero } from './rollouts/idle-agents.ts';
import { Rollouts } from './rollouts/rollouts.ts';
import { createApp } from './api/app.ts';
import { openEncryptedStore } from './encryption/open-encrypted-store.ts';
import { createHttpServer, endServer, listen, provePort } from './server.ts';
import { createControlService, type OurControlService } from './service.ts';
import { type RegistryDependencies, createRegistry } from './registry/registry.ts';
import { branchHeads } from './pushes/branch-heads.ts';
import { watchPushes, type WatchWord } from './pushes/watch-pushes.ts';
import type { ServiceDependencies } from './service/settings.ts';
import { claimDatabase } from './database-claim.ts';
import type { ApiKeyScope } from '../../contract/control/api-key-scopes.ts';
import type { Actor } from './store/audit.ts';
import { controlMigrations, controlSchema } from './store/migrations.ts';
import type { ControlTables } from './store/tables.ts';
import { createTracing, tracingTarget } from './tracing-projects/tracing.ts';
import { createTokenExchange } from './trust/exchange.ts';
import { createTokenVerifier } from './trust/verify-token.ts';
import { githubIssuer } from '../../contract/control/trust-policy.ts';
import { createUploads } from './uploads/uploads.ts';
import type { Logger } from '../../kit/logger.ts';

export interface LocalSettings extends Pick<ServiceDependencies, 'graphConfigLater' | 'hosting' | 'maxPreviews'> {
  /** The port on 127.0.0.1; 0 takes a free one. */
  port: number;
  /** The folder of the database, the builds and the API key; created where needed. */
  dataDir: string;
  /** Your own Postgres, with its user and password; the embedded one when absent or empty. */
  databaseUrl?: string | undefined;
  /** The environment that may hold the encryption keys; a file of the data folder holds one when absent. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Folders below which `repo_url` may name a repository. */
  allowGit: readonly string[];
  /** The prefix of all paths, as in `/api-host`; none when absent. */
  basePath?: string | undefined;
  /** The public address behind a web server: responses use it instead of our own. */
  publicUrl?: string | undefined;
  /** The public address of agents, of another host name than `publicUrl`. */
  agentsUrl?: string | undefined;
  /** The addresses of web servers in front, whose `X-Forwarded-For` counts. */
  trustedProxies?: readonly string[] | undefined;
  /** The issuers whose tokens can be exchanged for keys; GitHub when absent. */
  oidcIssuers?: readonly string[] | undefined;
  /** The default spelling of responses; the document's when absent. */
  fieldNames?: FieldSpelling | undefined;
  /** The GitHub App of the integrations; none when absent. */
  github?: Pick<GithubAppDependencies, 'appId' | 'privateKey' | 'apiUrl'> | undefined;
  /** The image registry of the push tokens; none when absent. */
  registry?: Pick<RegistryDependencies, 'address' | 'credentials'> | undefined;
  /** Which repositories are watched for pushes; folders of this machine when absent. */
  watchGit?: WatchWord | undefined;
  clock: Clock;
  /** Receives messages for the operator, without secrets. */
  log: Logger;
  /** How agents run on this machine; builds as processes and images as containers when absent. */
  running?: ComputeChoice | undefined;
  compute?: Compute | undefined;
  /** The program that runs an agent as a process; the agent server of this installation when absent. */
  agentServer?: string | undefined;
  step?: RolloutStep | undefined;
}

export interface LocalServices {
  /** The control service's address; agents are below `/agents/` of it. */
  url: string;
  /** The key of this installation: a secret. */
  apiKey: string;
  tenantId: string;
  control: OurControlService;
  /** Makes the address of the console with a code that signs in once: a secret. */
  signInLink(): string;
  /** Stops accepting requests, drains the agents, and stops everything within some 9 s. */
  close(): Promise<void>;
}

/** The drain time of agents at a shutdown, in milliseconds: the rest of 10 s is for the database. */
const agentsEndWithin = 6_000;

/**
 * Starts the control service with database, gateway and rollouts, and continues where the last one stopped. @throws
 * Error with advice when the port is taken, the folder is in use, or another service has the database.
 */
export async function startLocal(settings: LocalSettings): Promise<LocalServices> {
  const opened = new AsyncDisposableStack();
  try {
    return await start({ ...settings, dataDir: resolve(settings.dataDir) }, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function openData(settings: LocalSettings, opened: AsyncDisposableStack) {
  const { port, dataDir, databaseUrl, clock, log } = settings;
  // Check an existing folder first: "in use" explains more than a taken port. A new one is not created in vain.
  const isThere = existsSync(dataDir);
  if (!isThere) await provePort(port);
  const lock = await takeDataFolder(dataDir, clock, log);
  opened.defer(() => lock.release());
  if (isThere) await provePort(port);
  const database = await resolveDatabase({ databaseUrl, dataDir: join(dataDir, 'postgres'), log });
  opened.defer(() => database.close());
  const claim = await claimDatabase(database.url, clock, log);
  opened.defer(() => claim.release());
  const applicationName = 'landfall-control-service';
  const tables = openDatabase<ControlTables>({ url: database.url, max: 10, applicationName, log });
  opened.defer(() => tables.close());
  await migrate(tables.db, controlMigrations, { schema: controlSchema });
  const encryption = { env: settings.env ?? {}, dataDir, clock, log };
  const store = await retryWhileUnavailable(() => openEncryptedStore(tables.db, encryption), { clock });
  const { apiKey, tenantId } = await retryWhileUnavailable(() => ensureInstallationKey(store, dataDir), { clock });
  const logNotifier = changeNotifier();
  const heard = await hearChanges(database.url, logNotifier, clock);
  opened.defer(() => heard.close());
  const relay = database.socketFolder === undefined ? undefined : startRelay(database.socketFolder, tables.pool, log);
  opened.defer(() => relay?.close());
  return { store, adminDatabaseUrl: database.url, relay, apiKey, tenantId, logNotifier };
}

async function openCompute(settings: LocalSettings, { store, relay }: Data, opened: AsyncDisposableStack) {
  const { dataDir, clock, log } = settings;
  const agentTokens = createAgentTokens();
  const { close, userOf, ...computing } = await localCompute({
    choice: settings.running ?? {},
    given: settings.compute,
    agentServer: settings.agentServer,
    databaseFolder: await relay?.wayFor(0, placesForContainers),
    env: settings.env ?? process.env,
    dataDir,
    store,
    issueToken: agentTokens.issue,
    clock,
    log,
  });
  opened.defer(close);
  const wayToDatabase: WayToDatabase | undefined =
    relay && userOf && (async (deployment, most) => relay.wayFor((await userOf(deployment)).gid, most));
  return { ...computing, ...(userOf ? { userOf } : {}), wayToDatabase, agentTokens };
}

type Data = Awaited<ReturnType<typeof openData>>;

async function start(settings: LocalSettings, opened: AsyncDisposableStack): Promise<LocalServices> {
  const { port, dataDir, basePath = '', fieldNames = 'contract', github, publicUrl, agentsUrl, clock, log } = settings;
  const allowGit = allowedFolders(settings.allowGit);
  const data = await openData(settings, opened);
  const { store, adminDatabaseUrl, apiKey, tenantId, logNotifier } = data;
  const { agentTokens, ...computing } = await openCompute(settings, data, opened);
  // Without its file a new key is made: upload addresses become invalid, and agents get new tokens at their next
  // start.
  const uploadKey = await ensureSecret(join(dataDir, 'upload-key'));
  const uploads = createUploads({ store: store.uploads, dataDir, key: uploadKey, clock });
  await uploads.sweep();
  const retention = createRetention({ store, uploads, workDir: computing.workDir, clock, log });
  const tracing = createTracing(await ensureSecret(join(dataDir, 'tracing-key')));
  const integrations = github && createIntegrations(githubApp({ ...github, clock }), store, clock);
  const registry = settings.registry && createRegistry({ ...settings.registry, clock });
  const addresses = { publicUrl, agentsUrl, basePath };
  const { trustedProxies, oidcIssuers = [githubIssuer] } = settings;
  const linkKeyId = readApiKey(apiKey)?.id ?? '';
  const sessions = createSessions({ store, linkKeyId, ...addresses, trustedProxies, secret: uploadKey, clock });
  const recorder = createHealthRecorder({ store, clock, log });
  const gateway = new Gateway({
    count: recorder.count,
    authorize: admitToAgent(store, sessions),
    isStarting(deploymentId) {
      rollouts.startNext(deploymentId);
      return rollouts.isStarting(deploymentId);
    },
    idle: () => rollouts,
    publicUrl,
    agentsUrl,
    clock,
    log,
  });
  let url = '';
  const rollouts = new Rollouts({
    ...computing,
    store,
    dataDir,
    adminDatabaseUrl,
    allowGit,
    gateway,
    cloning: integrations,
    tracing: (projectId) => tracingTarget(tracing, url, projectId),
    clock,
    log,
    makeRoom: retention.makeRoom,
    step: settings.step,
  });
  // Builds in containers have no way to be told of a promotion.
  const holds = settings.running?.kind !== 'container' && settings.compute === undefined;
  const notifier = workNotifier(clock);
  const leaving = new AbortController();
  const serviceFor = (tenant: string, by?: Actor, scopes?: readonly ApiKeyScope[]) =>
    createControlService({
      store,
      rollouts,
      notifier,
      logNotifier,
      clock,
      tenantId: tenant,
      baseUrl: () => publicUrl ?? url,
      allowGit,
      hosting: settings.hosting,
      maxPreviews: settings.maxPreviews,
      graphConfigLater: settings.graphConfigLater,
      pythonPackages: (build) => readPythonPackages(dataDir, build),
      uploads,
      registry,
      integrations,
      holds,
      tracing,
      agentTokens,
      oidcIssuers,
      ...(by ? { by } : {}),
      ...(scopes ? { scopes } : {}),
    });
  const verify = createTokenVerifier({ issuers: oidcIssuers, clock });
  const app = createApp({
    serviceFor,
    findKey: store.findKey,
    noteKeyUse: store.noteKeyUse,
    console: addresses,
    fieldNames,
    log,
    leaving: leaving.signal,
    uploads,
    runs: { store, tracing, agentTokens },
    sessions,
    exchangeToken: createTokenExchange({ store, clock, log, verify }),
    holds,
    consoleUrl: publicUrl === undefined ? undefined : `${publicUrl}/console`,
  });
  const server = createHttpServer({
    fetch: app.fetch,
    agents: gateway.handle,
    basePath,
    isForAgents: (host) => isAgentsHost(host, addresses),
  });
  url = `http://127.0.0.1:${await listen(server, port)}${basePath}`;
  // Stores the last figures once the requests have ended.
  opened.defer(() => recorder.stop());
  recorder.start();
  opened.defer(() =>
    endServer(server, () => {
      notifier.close();
      leaving.abort();
      return rollouts.stop(agentsEndWithin);
    }),
  );
  await rollouts.recover();
  const { watchGit = 'folders' } = settings;
  if (watchGit === 'all' || (watchGit === 'folders' && allowGit.length > 0)) {
    const heads = branchHeads({ dataDir, allowGit, clock });
    opened.defer(watchPushes({ store: store.pushes, rollouts, heads, which: watchGit, clock, log }));
  }
  opened.defer(startSampler({ gateway, recorder, clock }));
  opened.defer(startScalingToZero({ store, gateway, rollouts, clock, log }));
  opened.defer(() => retention.stop());
  retention.start();
  // In the fragment, which browsers send to no server.
  const signInLink = (): string => `${publicUrl ?? url}/console#code=${sessions.issueCode()}`;
  return { url, apiKey, tenantId, control: serviceFor(tenantId), signInLink, close: () => opened.disposeAsync() };
}
