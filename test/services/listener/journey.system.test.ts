import { silentLogger } from '../../../src/kit/logger.ts';
// The whole way: the control service over HTTP, listeners as processes of their own, and a cluster on loopback.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/kit/clock.ts';
import { startLocal, type LocalServices } from '../../../src/services/control/local.ts';
import { startApiServer, type ApiServer } from '../control/kubernetes/api-server.ts';
import { fromImage, refusalOf } from '../control/service-fixture.ts';
import { nodeEnvironment } from '../../node-environment.ts';
import { startTestPostgres } from '../../kit/postgres/postgres.ts';

const root = resolve(import.meta.dirname, '../../..');
let cluster: ApiServer;
let services: LocalServices;
let listenerId = '';
const atTheEnd: (() => Promise<void> | void)[] = [];
const running: ListenerProcess[] = [];

beforeAll(async () => {
  const postgres = await startTestPostgres();
  atTheEnd.push(() => postgres.stop());
  const folder = mkdtempSync(join(tmpdir(), 'landfall-listener-'));
  atTheEnd.push(() => rmSync(folder, { recursive: true, force: true }));
  cluster = await startApiServer(['default', 'agents']);
  atTheEnd.push(() => cluster.close());
  const controllers = setInterval(() => {
    for (const resource of ['deployments', 'statefulsets']) {
      for (const object of cluster.state.list(resource, 'agents')) cluster.controller.advance(object);
    }
  }, 100);
  atTheEnd.push(() => clearInterval(controllers));
  services = await startLocal({
    port: 0,
    dataDir: folder,
    databaseUrl: postgres.url,
    allowGit: [],
    clock: systemClock,
    log: silentLogger,
  });
  atTheEnd.push(() => services.close());
  atTheEnd.push(async () => void (await Promise.all(running.map(({ kill }) => kill()))));
  // Two of them end on the way.
  await Promise.all(Array.from({ length: 3 }, () => startListenerProcess()));
  listenerId = (await services.control.listListeners({})).resources[0]?.id ?? '';
});
afterAll(async () => {
  for (const end of atTheEnd.reverse()) await end();
});
afterEach(async () => {
  cluster.controller.outcomes.clear();
  cluster.faults.length = 0;
});

interface ListenerProcess {
  pid: number;
  child: ChildProcess;
  said: () => string;
  kill: () => Promise<void>;
}

/** `landfall listener`, as people start it, ready. */
async function startListenerProcess(): Promise<ListenerProcess> {
  const flags = ['--base-url', services.url, '--compute-id', 'loopback', '--namespaces', 'agents'];
  const child = spawn(
    process.execPath,
    [join(root, 'src/cli/main.ts'), 'listener', ...flags, '--lease', '3', '--trouble', '1'],
    {
      env: { ...nodeEnvironment(), KUBECONFIG: cluster.kubeconfig, LANDFALL_API_KEY: services.apiKey },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const lines: string[] = [];
  const ended = once(child, 'close');
  child.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => lines.push(text));
  const listener: ListenerProcess = {
    pid: child.pid ?? 0,
    child,
    said: () => lines.join(''),
    kill: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
  running.push(listener);
  await until('a listener that listens', async () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${listener.said()}`);
    return listener.said().includes('Listening for work');
  });
  return listener;
}

async function until<T>(what: string, find: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = performance.now() + 120_000; performance.now() < end; await systemClock.sleep(50)) {
    const found = await find();
    if (found) return found;
  }
  throw new Error(`${what}: waited in vain\n${running.map(({ said }) => said()).join('\n---\n')}`);
}

interface Made {
  id: string;
  name: string;
  latest_revision_id: string | null;
}
const deploy = () => services.control.createDeployment(fromImage({ source_config: { listener_id: listenerId } }));
const newImage = (id: string) =>
  services.control.patchDeployment(id, { source_revision_config: { image_uri: 'registry.example.com/agent:2' } });
const becomes = (made: Made, status: string) =>
  until(`${made.name} becomes ${status}`, async () => {
    const revision = await services.control.getRevision(made.id, made.latest_revision_id ?? '');
    return revision.status === status && revision;
  });
const objectsOf = ({ id }: Made) =>
  ['deployments', 'statefulsets', 'services', 'secrets'].flatMap((resource) =>
    cluster.state
      .list(resource, 'agents')
      .filter(({ metadata }) => Object.values(metadata.labels).includes(id))
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  );
/** How many times the log of a revision says that its agent is started. */
async function starts(made: Made): Promise<number> {
  const { logs } = await services.control.deployLogs(made.id, made.latest_revision_id ?? '', {});
  return logs.filter(({ message }) => message.startsWith('Starting the agent')).length;
}

/** The process that carries a revision out now, by what the revision says of it. */
const holderOf = (made: Made): Promise<ListenerProcess> =>
  until(`a process holds ${made.name}`, async () => {
    const { status_message } = await services.control.getRevision(made.id, made.latest_revision_id ?? '');
    return running.find(({ pid }) => status_message?.includes(`(${pid})`));
  });

test('an image is applied in the listener’s namespace, and live', async () => {
  const made = await deploy();
  await becomes(made, 'DEPLOYED');
  expect(await services.control.getDeployment(made.id)).toMatchObject({
    status: 'READY',
    active_revision_id: made.latest_revision_id,
  });
  expect(objectsOf(made)).toEqual(expect.arrayContaining([expect.stringMatching(/^Deployment /)]));
  const { logs } = await services.control.deployLogs(made.id, made.latest_revision_id ?? '', {});
  expect(logs.map(({ message }) => message)).toContain('The cluster says that the agent is available.');
});

test('a failure ends with the pod’s own reason, and the live revision stays', async () => {
  const made = await deploy();
  await becomes(made, 'DEPLOYED');
  cluster.controller.outcomes.set('', 'image missing');
  const next = await newImage(made.id);
  expect(await becomes(next, 'DEPLOY_FAILED')).toMatchObject({
    status_message: expect.stringContaining('ImagePullBackOff'),
  });
  expect(await services.control.getDeployment(made.id)).toMatchObject({ active_revision_id: made.latest_revision_id });
});

test('where the one that holds the lease is killed, the other ends the work', async () => {
  cluster.faults.push({ method: 'PATCH', path: '/deployments/', times: 1, how: { kind: 'silent' } });
  const made = await deploy();
  const holder = await holderOf(made);
  await until('it hangs in the cluster', async () => cluster.faults[0]?.times === 0);
  // It sends its log in the background.
  await until('it has said so', async () => (await starts(made)) > 0);
  await holder.kill();
  const { status_message } = await becomes(made, 'DEPLOYED');
  expect(status_message).toBeNull();
  // A busy machine may let a lease lapse before that: then a third one starts it.
  expect(await starts(made)).toBeGreaterThan(1);
});

test('on SIGTERM it returns its work within 10 s, and exits with 0', async () => {
  cluster.faults.push({ method: 'PATCH', path: '/deployments/', times: 1, how: { kind: 'silent' } });
  const made = await deploy();
  const holder = await holderOf(made);
  await until('it hangs in the cluster', async () => cluster.faults[0]?.times === 0);
  const began = performance.now();
  holder.child.kill('SIGTERM');
  const [code] = await once(holder.child, 'close');
  expect([code, performance.now() - began < 10_000]).toEqual([0, true]);
  await becomes(made, 'DEPLOYED');
});

test('a deleted deployment is pruned from the cluster, and gone', async () => {
  const made = await deploy();
  await becomes(made, 'DEPLOYED');
  await services.control.deleteDeployment(made.id);
  await until('it is gone', async () => {
    const { status } = await refusalOf(services.control.getDeployment(made.id)).catch(() => ({ status: 200 }));
    return status === 404;
  });
  expect(objectsOf(made)).toEqual([]);
});
