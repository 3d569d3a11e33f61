import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, lchownSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { databaseNamed } from '../databases-of.ts';
import { removeIsolated } from '../../../../src/services/control/isolation/isolation.ts';
import { dropAgentDatabase } from '../../../../src/kit/postgres/databases.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';
import { installedPackages, isOpen } from '../../../installed-packages.ts';
import { repository, temporaryFolder } from '../builds/repositories.ts';
import { runs, until } from '../compute/agents.ts';
import { httpControl } from '../http-control.ts';
import { fromGit } from '../service-fixture.ts';

const main = resolve(import.meta.dirname, '../../../../src/services/control/main.ts');
/** The user of the service: the ordinary user 65534 for root, if it can read the checkout and Node.js. */
const isRoot = process.getuid?.() === 0;
const ordinaryUser =
  isRoot && isOpen(dirname(main)) && isOpen(dirname(process.execPath)) ? { uid: 65_534, gid: 65_534 } : undefined;
const isOrdinary = !isRoot || ordinaryUser !== undefined;
const whom = isOrdinary ? 'an ordinary user' : 'root, because the checkout is private';

const atTheEnd: (() => void)[] = [];
let root: string;
let dataDir: string;
let out: string;
let postgres: TestPostgres;
let service: Service;
let id: string;
let revisionId: string;

interface Service {
  process: ChildProcess;
  url: string;
  key: string;
  output: string[];
}

/** Starts the services from the command line; resolves once they respond. */
async function started(): Promise<Service> {
  const child = spawn(
    process.execPath,
    [main, '--port', '0', '--data', dataDir, '--allow-git', join(root, 'git'), '--json'],
    {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOME: out,
        DATABASE_URL: postgres.url,
        LANDFALL_SECRETS_KEY: Buffer.from('canary-of-the-service-1234567890').toString('base64'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...ordinaryUser,
    },
  );
  atTheEnd.push(() => void child.kill('SIGKILL'));
  const output: string[] = [];
  createInterface(child.stderr).on('line', (line) => output.push(line));
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(output.join('\n'))));
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  ended.catch(() => undefined);
  const { url, api_key: key } = z.object({ url: z.string(), api_key: z.string() }).parse(JSON.parse(String(line)));
  return { process: child, url, key, output };
}

async function ended({ process: child }: Service, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

/** Leaves its process group and writes its id to a file. */
const leaves = (file: string): string =>
  `setsid /bin/sh -c 'echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep 600'`;
const pidIn = (name: string): number => Number(readFileSync(join(out, name), 'utf8'));

beforeAll(async () => {
  root = temporaryFolder(atTheEnd);
  chmodSync(root, 0o755);
  out = join(root, 'out');
  mkdirSync(out);
  chmodSync(out, 0o777);
  dataDir = join(root, 'data');
  repository(join(root, 'git/agent'), {
    'langgraph.json': JSON.stringify({ graphs: { echo: './graph.js:graph' } }),
    'package.json': JSON.stringify({ name: 'agent', type: 'module' }),
    'graph.js': `
      import { spawn } from 'node:child_process';
      import { writeFileSync } from 'node:fs';
      import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
      writeFileSync('${join(out, 'agent')}', String(process.pid));
      writeFileSync('${join(out, 'environment')}', JSON.stringify(process.env));
      spawn('/bin/sh', ['-c', ${JSON.stringify(leaves(join(out, 'daemon')))}], { stdio: 'ignore' });
      export const graph = new StateGraph(Annotation.Root({ said: Annotation }))
        .addNode('say', () => ({ said: 'hello' })).addEdge(START, 'say').addEdge('say', END).compile();`,
    'build.sh': `ln -s ${installedPackages()} node_modules; env; ${leaves(join(out, 'left'))} >/dev/null 2>&1 &\nuntil [ -e ${join(out, 'left')} ]; do sleep 0.1; done\ncat ${join(dataDir, 'api-key')} > /dev/null && echo the key can be read\n`,
  });
  if (ordinaryUser) {
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
      lchownSync(join(root, name), ordinaryUser.uid, ordinaryUser.gid);
    chownSync(root, ordinaryUser.uid, ordinaryUser.gid);
  }
  postgres = await startTestPostgres();
  service = await started();
  const control = httpControl(service.url, service.key);
  const made = await control.createDeployment(
    fromGit({
      source_config: { repo_url: join(root, 'git/agent'), install_command: 'sh build.sh' },
      source_revision_config: { graph_config_path: 'langgraph.json' },
    }),
  );
  id = made.id;
  revisionId = made.latest_revision_id ?? '';
  await vi.waitFor(
    async () => {
      const { status, status_message } = await control.getRevision(id, revisionId);
      if (!/DEPLOYED|FAILED/.test(status)) throw new Error(`${status} ${status_message ?? ''}`);
    },
    { timeout: 120_000, interval: 50 },
  );
});

afterAll(async () => {
  await ended(service, 'SIGTERM');
  await dropAgentDatabase(postgres.adminUrl, await databaseNamed(postgres.url, id));
  await postgres.stop();
  await removeIsolated(dataDir);
  for (const remove of atTheEnd.reverse()) remove();
});

describe(`a service of ${whom}`, () => {
  test('deploys an agent that responds', async () => {
    const control = httpControl(service.url, service.key);
    expect(await control.getRevision(id, revisionId)).toMatchObject({ status: 'DEPLOYED', status_message: null });
    const answer = await fetch(`${service.url}/agents/${id}/runs/wait`, {
      method: 'POST',
      headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'echo', input: {} }),
    });
    expect(await answer.json()).toEqual({ said: 'hello' });
  });

  test('warns at startup and in each deploy log about missing isolation', async () => {
    const { logs } = await httpControl(service.url, service.key).deployLogs(id, revisionId, { limit: 1_000 });
    const warning = "Agents and builds run as this service's own user";
    expect(service.output.some((line) => line.includes(`"msg":"${warning}`))).toBe(isOrdinary);
    expect(logs.some(({ message }) => message.startsWith(warning))).toBe(isOrdinary);
  });

  test('closes its files to the other users of the machine', () => {
    // As root, it lets deployments' users pass through to their folders.
    expect(statSync(dataDir).mode & 0o777).toBe(isOrdinary ? 0o700 : 0o711);
    const source = join(dataDir, 'builds', revisionId, 'source/graph.js');
    const files = [join(dataDir, 'api-key'), ...(existsSync(source) ? [source] : [])];
    expect(files.map((file) => statSync(file).mode & 0o077)).toEqual(files.map(() => 0));
    // Only root can try it as another user.
    const other = { cwd: '/', uid: 65_533, gid: 65_533 };
    expect(files.filter((file) => isRoot && spawnSync('cat', [file], other).status === 0)).toEqual([]);
  });

  test('does not pass its own environment to builds and agents', async () => {
    const { logs } = await httpControl(service.url, service.key).buildLogs(id, revisionId, { limit: 1_000 });
    const lines = logs.map(({ message }) => message);
    expect(lines.some((line) => line.startsWith('LANDFALL_BUILD='))).toBe(true);
    for (const seen of [lines.join('\n'), readFileSync(join(out, 'environment'), 'utf8')])
      expect(seen).not.toMatch(/LANDFALL_SECRETS_KEY|DATABASE_URL/);
    // Agents of the same user are not isolated, as the warning says.
    expect(lines.includes('the key can be read')).toBe(isOrdinary);
  });

  test('ends processes that a build leaves behind outside its process group', () => {
    expect(runs(pidIn('left'))).toBe(false);
  });

  test('ends its agents and their detached processes on exit', async () => {
    await until(() => existsSync(join(out, 'daemon')));
    const pids = ['agent', 'daemon'].map(pidIn);
    expect(pids.map(runs)).toEqual([true, true]);
    await ended(service, 'SIGTERM');
    expect(pids.map(runs)).toEqual([false, false]);
    const before = pids[0];
    service = await started();
    await until(() => pidIn('agent') !== before && pidIn('daemon') !== pids[1] && runs(pidIn('daemon')));
  });

  test('ends detached processes of agents at the next start after SIGKILL', async () => {
    const [agent = 0, daemon = 0] = ['agent', 'daemon'].map(pidIn);
    expect([agent, daemon].map(runs)).toEqual([true, true]);
    await ended(service, 'SIGKILL');
    service = await started();
    await until(() => !runs(agent) && !runs(daemon));
  });
});
