import { loggerTo } from '../../../logger.ts';
import { existsSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { Revision } from '../../../../src/contract/control/revision.ts';
import { lastLogMessages } from '../../../../src/services/control/compute/log-line.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { idleCompute } from '../../../../src/services/control/compute/idle-compute.ts';
import { Gateway } from '../../../../src/services/control/gateway/gateway.ts';
import { admitToAgent } from '../../../../src/services/control/api-keys/admit.ts';
import { hashApiKey, makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { databaseOf } from '../../../../src/services/control/rollouts/agent-database.ts';
import { Rollouts, type RolloutsSettings } from '../../../../src/services/control/rollouts/rollouts.ts';
import { createApp } from '../../../../src/services/control/api/app.ts';
import { createHttpServer } from '../../../../src/services/control/server.ts';
import { createControlService, type OurControlService } from '../../../../src/services/control/service.ts';
import { controlMigrations, controlSchema } from '../../../../src/services/control/store/migrations.ts';
import { createStore, type ControlStore } from '../../../../src/services/control/store/store.ts';
import type { ControlTables, LogKind } from '../../../../src/services/control/store/tables.ts';
import { openDatabase } from '../../../../src/kit/postgres/database.ts';
import { dropAgentDatabase } from '../../../../src/kit/postgres/databases.ts';
import { migrate } from '../../../../src/kit/postgres/migrate.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { commit, plainAgent, repository, temporaryFolder, type Files } from '../builds/repositories.ts';
import { fakeAgent } from '../compute/agents.ts';
import { createUploads } from '../../../../src/services/control/uploads/uploads.ts';
import { tarball, type PutTarball } from '../uploads/upload-places.ts';
import { httpControl } from '../http-control.ts';

/** The environment of a service, which outlives it. */
export interface Machine {
  root: string;
  dataDir: string;
  /** A repository with an agent, below the one allowed folder. */
  repo: string;
  allowGit: string[];
  databaseUrl: string;
  tenantId: string;
  /** A valid key of another tenant. */
  strangersKey: string;
  close(): Promise<void>;
}

/** A control service that really builds and runs, with a fast fake agent server. */
export interface RunningService {
  machine: Machine;
  control: OurControlService;
  /** The same service over HTTP. */
  remote: OurControlService;
  store: ControlStore;
  rollouts: Rollouts;
  gateway: Gateway;
  logged: string[];
  /** Uploads a tarball to an issued address, without a key. */
  put: PutTarball;
  close(): Promise<void>;
}

/** The key of the owner of the deployments. */
const ownersKey = makeApiKey();

const atTheEnd: (() => void | Promise<void>)[] = [];

/** Closes everything that was opened, in reverse order. */
export async function closeAll(): Promise<void> {
  for (const close of atTheEnd.splice(0).reverse()) await close();
}

export async function openMachine(files: Files = plainAgent): Promise<Machine> {
  const folders: (() => void)[] = [];
  const root = temporaryFolder(folders);
  const postgres = await startTestPostgres();
  const database = openDatabase<ControlTables>({ url: postgres.url });
  await migrate(database.db, controlMigrations, { schema: controlSchema });
  const store = createStore(database.db, systemClock);
  const tenantId = await store.addTenant('one');
  await store.addKey({ id: ownersKey.id, tenant_id: tenantId, hash: hashApiKey(ownersKey) });
  const stranger = makeApiKey();
  const strangersTenant = await store.addTenant('two');
  await store.addKey({ id: stranger.id, tenant_id: strangersTenant, hash: hashApiKey(stranger) });
  const { folder: repo } = repository(join(root, 'git/agent'), files);
  const machine: Machine = {
    root,
    dataDir: join(root, 'data'),
    repo,
    allowGit: [join(root, 'git')],
    databaseUrl: postgres.url,
    tenantId,
    strangersKey: stranger.text,
    async close() {
      const deployments = await store.listDeployments(tenantId, { limit: 100 });
      await database.close();
      for (const { deployment } of deployments) await dropAgentDatabase(postgres.adminUrl, databaseOf(deployment));
      await postgres.stop();
      for (const remove of folders) remove();
    },
  };
  atTheEnd.push(() => machine.close());
  return machine;
}

/**
 * Starts a service on a machine, with recovery. Its agents end once a newer one has taken over, or stay idle for a while
 * with `idle`, as in the local service.
 */
export async function startService(
  machine: Machine,
  settings: Partial<RolloutsSettings> & { drainMs?: number; idle?: boolean } = {},
): Promise<RunningService> {
  const { dataDir, allowGit, databaseUrl, tenantId } = machine;
  const clock = systemClock;
  const logged: string[] = [];
  const log = loggerTo((message: string): void => void logged.push(message));
  const database = openDatabase<ControlTables>({ url: databaseUrl });
  const store = createStore(database.db, clock);
  const gateway = new Gateway({ authorize: admitToAgent(store), idle: () => rollouts, clock, log });
  const processes = processCompute({ clock, agentServer: fakeAgent, drainMs: settings.drainMs ?? 5_000 });
  const idle = settings.idle === true ? idleCompute(processes, { clock }) : undefined;
  const rollouts = new Rollouts({
    store,
    dataDir,
    adminDatabaseUrl: databaseUrl,
    allowGit,
    gateway,
    compute: idle ?? processes,
    clock,
    log,
    drainMs: 20_000,
    ...settings,
  });
  const uploads = createUploads({ store: store.uploads, dataDir, key: Buffer.alloc(32, 7), clock });
  let origin = '';
  const serviceFor = (tenant: string): OurControlService =>
    createControlService({ store, rollouts, tenantId: tenant, baseUrl: () => origin, allowGit, uploads, holds: true });
  const app = createApp({ serviceFor, findKey: store.findKey, fieldNames: 'contract', log, uploads, holds: true });
  const server = createHttpServer({ fetch: app.fetch, agents: gateway.handle, basePath: '' });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service listens on no port');
  origin = `http://127.0.0.1:${address.port}`;
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await rollouts.stop(4_000);
    await idle?.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await database.close();
  };
  const instance: RunningService = {
    machine,
    control: serviceFor(tenantId),
    remote: httpControl(origin, ownersKey.text),
    store,
    rollouts,
    gateway,
    logged,
    put: (url, body, headers) => fetch(url, tarball(body, headers)),
    close: () => (closed ??= close()),
  };
  atTheEnd.push(() => instance.close());
  await rollouts.recover();
  return instance;
}

/** An instance whose `control` is the service over HTTP. */
export const overHttp = (instance: RunningService): RunningService => ({ ...instance, control: instance.remote });

let names = 0;

/** Creates a deployment of the machine's repository. */
export async function deploy(
  { control, machine }: RunningService,
  changes: { secrets?: Record<string, string>; config?: object; revision?: object } = {},
): Promise<{ id: string; revisionId: string; url: string }> {
  const { id, latest_revision_id, url } = await control.createDeployment({
    name: `agent-${(names += 1)}`,
    source: 'github',
    source_config: { repo_url: machine.repo, ...changes.config },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json', ...changes.revision },
    secrets: secretsOf(changes.secrets ?? {}),
  });
  return { id, revisionId: latest_revision_id ?? '', url: url ?? '' };
}

/** Creates another revision by a PATCH, and returns its id. */
export async function revise({ control }: RunningService, id: string, body: object): Promise<string> {
  return (await control.patchDeployment(id, body)).latest_revision_id ?? '';
}

export const restate = { source_revision_config: { repo_ref: 'main' } };
export const secretsOf = (values: Record<string, string>) =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

/** Commits a change to the machine's repository. */
export const change = (machine: Machine, files: Files = {}): string => commit(machine.repo, files);

const ends = ['DEPLOYED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED'];

/** Waits until a revision has one of the statuses, by default one of the final ones. */
export async function reaches(
  { control }: RunningService,
  id: string,
  revisionId: string,
  statuses = ends,
): Promise<Revision> {
  for (;;) {
    const revision = await control.getRevision(id, revisionId);
    if (statuses.includes(revision.status)) return revision;
    if (ends.includes(revision.status)) throw new Error(`it ended ${revision.status}: ${revision.status_message}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until a revision is live. */
export const goesLive = (
  instance: RunningService,
  { id, revisionId }: { id: string; revisionId: string },
): Promise<Revision> => reaches(instance, id, revisionId, ['DEPLOYED']);

/** Every status that a revision had. */
export const history = async ({ store }: RunningService, revisionId: string): Promise<string[]> =>
  (await store.eventsOf(revisionId)).map(({ status }) => status);

/** Waits until the agent of a revision has ended, with all its requests. */
export async function hasLeft(instance: RunningService, revisionId: string): Promise<void> {
  const ends: readonly string[] = [lastLogMessages.stopped, lastLogMessages.idle];
  await until(async () => (await logOf(instance, revisionId, 'deploy')).some((line) => ends.includes(line)));
}

/** A revision's log, as `level: message` above the level info. */
export async function logOf({ store }: RunningService, revisionId: string, kind: LogKind): Promise<string[]> {
  const lines = await store.readLog([revisionId], kind, { order: 'asc', limit: 1_000 });
  return lines.map(({ level, message }) => (level === 'info' ? message : `${level}: ${message}`));
}

/** The headers of the owner. */
export const keyHeader = { 'x-api-key': ownersKey.text };

export const requestAgent = (url: string, path: string): Promise<Response> =>
  fetch(`${url}${path}`, { headers: keyHeader });

/** The revision that responds at an address, or the status of the refusal. */
export async function answering(url: string): Promise<string> {
  const response = await requestAgent(url, '/ok');
  const body: unknown = await response.json();
  const isReported = typeof body === 'object' && body !== null && 'revision' in body;
  return isReported ? String(body.revision) : String(response.status);
}

/** Waits until a condition holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A command that waits until a file exists. */
export function gate(
  root: string,
  name: string,
): { command: string; script: Files; open: string; waits: () => boolean } {
  const open = join(root, `${name}-open`);
  const waiting = join(root, `${name}-waits`);
  return {
    command: `sh ${name}.sh`,
    script: {
      [`${name}.sh`]: `echo $$ > ${waiting}.new\nmv ${waiting}.new ${waiting}\nwhile [ ! -e ${open} ]; do sleep 0.05; done\nrm ${waiting}\n`,
    },
    open,
    waits: () => existsSync(waiting),
  };
}

export const forget = (file: string): void => rmSync(file, { force: true });
