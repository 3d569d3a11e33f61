import { silentLogger } from '../../../../src/kit/logger.ts';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { isolate, removeIsolated } from '../../../../src/services/control/isolation/isolation.ts';
import { startLocal, type LocalServices } from '../../../../src/services/control/local.ts';
import { databaseNamed } from '../databases-of.ts';
import { dropAgentDatabase } from '../../../../src/kit/postgres/databases.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';
import { plainAgent, repository, temporaryFolder } from '../builds/repositories.ts';
import { fromGit } from '../service-fixture.ts';
import { attempt, pryingAgent, said, type Attempt, type Tried } from './prying.ts';

/** Isolation depends on the user that runs the tests, so the titles say which case was tested. */
const asRoot = process.getuid?.() === 0;
const byWhom = asRoot ? 'a service that is root' : 'a service of an ordinary user';

const atTheEnd: (() => void)[] = [];
let root: string;
let dataDir: string;
let postgres: TestPostgres;
let services: LocalServices;
/** The deployments, each with the folder that its agent runs in. */
const agents: { id: string; url: string; folder: string; uid: number }[] = [];

const tryIn = (which: 0 | 1, ...requested: Attempt): Promise<Tried> =>
  attempt(agents[which]?.url ?? '', { 'x-api-key': services.apiKey }, requested);
const mine = (...requested: Attempt): Promise<Tried> => tryIn(0, ...requested);

beforeAll(async () => {
  root = temporaryFolder(atTheEnd);
  // Open up to the data folder, so that only its own permissions deny access.
  chmodSync(root, 0o755);
  dataDir = join(root, 'data');
  const { folder: repo } = repository(join(root, 'git/agent'), {
    ...plainAgent,
    'secret.txt': 'of this deployment',
    'pry.sh': `id -u > who.txt\ncat ${join(dataDir, 'api-key')} > stolen.txt\nexit 0\n`,
  });
  postgres = await startTestPostgres();
  services = await startLocal({
    port: 0,
    dataDir,
    databaseUrl: postgres.url,
    allowGit: [join(root, 'git')],
    clock: systemClock,
    log: silentLogger,
    agentServer: pryingAgent,
  });
  const started = await Promise.all(
    ['one', 'two'].map((name) =>
      services.control.createDeployment({
        ...fromGit({
          source_config: { repo_url: repo, install_command: 'sh pry.sh' },
          source_revision_config: { graph_config_path: 'langgraph.json' },
        }),
        name,
      }),
    ),
  );
  for (const { id, latest_revision_id, url } of started) {
    await vi.waitFor(
      async () => {
        const { status, status_message } = await services.control.getRevision(id, latest_revision_id ?? '');
        if (status !== 'DEPLOYED') throw new Error(`${status} ${status_message ?? ''}`);
      },
      { timeout: 120_000, interval: 25 },
    );
    const seen = await attempt(url ?? '', { 'x-api-key': services.apiKey }, ['run', 'pwd']);
    agents.push({ id, url: url ?? '', folder: said(seen).trim(), uid: seen.done ? seen.uid : -1 });
  }
});

afterAll(async () => {
  await services.close();
  for (const { id } of agents) await dropAgentDatabase(postgres.adminUrl, await databaseNamed(postgres.url, id));
  await postgres.stop();
  await removeIsolated(dataDir);
  for (const remove of atTheEnd) remove();
});

/** The other agent's process; set when the test runs. */
let otherPid = 0;

/** What an agent tries to reach. */
const reached: readonly (readonly [string, () => Attempt])[] = [
  ["another deployment's files", () => ['read', join(agents[1]?.folder ?? '', 'secret.txt')]],
  ["another deployment's folder", () => ['list', agents[1]?.folder ?? '']],
  ["another deployment's folder for writing", () => ['write', join(agents[1]?.folder ?? '', 'planted.txt')]],
  ['the service’s environment', () => ['read', `/proc/${process.pid}/environ`]],
  ["another deployment's process", () => ['kill', String(otherPid)]],
  ['the service’s process', () => ['kill', String(process.pid)]],
  ['the data folder', () => ['list', dataDir]],
  ['the folder of all builds', () => ['list', join(dataDir, 'builds')]],
  ['the installed program for writing', () => ['write', resolve(import.meta.dirname, '../../../../package.json')]],
];

describe(`agents of ${byWhom}`, () => {
  test('each can use its own folder', async () => {
    expect(said(await mine('text', join(agents[0]?.folder ?? '', 'secret.txt')))).toBe('of this deployment');
    expect(said(await mine('run', 'echo kept > kept.txt; cat kept.txt'))).toBe('kept\n');
  });

  test('none can connect to another database or create one', async () => {
    const databases = [
      new URL(postgres.url).pathname.slice(1),
      (await databaseNamed(postgres.url, agents[1]?.id ?? '')).database,
      'postgres',
      'template1',
      'landfall',
    ];
    for (const database of databases)
      expect([database, await mine('connect', database)]).toEqual([database, { done: false, code: '42501' }]);
    expect(await mine('connect', (await databaseNamed(postgres.url, agents[0]?.id ?? '')).database)).toMatchObject({
      done: true,
    });
    for (const [statement, code] of [
      ['create database mine', '42501'],
      ['create role mine', '42501'],
      ['alter role current_user createdb', '42501'],
      ["copy (select 1) to program 'id'", '42501'],
      ["select pg_read_file('/etc/passwd')", '42501'],
    ] as const) {
      expect([statement, await mine('query', statement)]).toEqual([statement, { done: false, code }]);
    }
    const rights =
      'select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolconnlimit from pg_roles where rolname = current_user';
    expect(JSON.parse(said(await mine('query', rights)))).toEqual([
      {
        rolsuper: false,
        rolcreatedb: false,
        rolcreaterole: false,
        rolreplication: false,
        rolbypassrls: false,
        rolconnlimit: 20,
      },
    ]);
  });

  test("get nothing of the service's environment, no new privileges and no core dumps", async () => {
    process.env.CANARY_OF_THE_SERVICE = 'canary-5e0c';
    expect(said(await mine('run', 'env'))).not.toContain('canary-5e0c');
    delete process.env.CANARY_OF_THE_SERVICE;
    expect(said(await mine('run', 'umask; ulimit -c; ulimit -n'))).toBe('0077\n0\n16384\n');
    const noNewPrivileges = existsSync('/usr/bin/setpriv') ? 1 : 0;
    expect(said(await mine('run', 'cat /proc/self/status'))).toMatch(
      new RegExp(`^NoNewPrivs:\\s+${noNewPrivileges}$`, 'm'),
    );
  });

  test('have private temporary folders', async () => {
    const folder = said(await mine('run', 'printf %s "$TMPDIR"'));
    expect(said(await mine('run', 'ls -ldn "$TMPDIR"'))).toMatch(new RegExp(`^drwx------ +\\d+ ${agents[0]?.uid} `));
    expect(await tryIn(1, 'list', folder)).toMatchObject({ done: !asRoot });
  });

  test("builds run as the agent's user", async () => {
    expect(said(await mine('text', 'who.txt')).trim()).toBe(String(agents[0]?.uid));
  });
});

describe.each(asRoot ? ['root'] : [])('agents of a service that is %s', () => {
  test('each deployment has a new user without other groups', async () => {
    const uids = agents.map(({ uid }) => uid);
    expect(new Set(uids).size).toBe(2);
    for (const uid of uids) expect(uid).toBeGreaterThan(20_000);
    expect(said(await mine('run', 'id -G')).trim()).toBe(String(uids[0]));
  });

  test.each(reached)('none reaches %s', async (_, requested) => {
    const other = await tryIn(1, 'run', 'true');
    otherPid = other.done ? other.pid : 0;
    const of = await mine(...requested());
    expect(of).toEqual({ done: false, code: expect.stringMatching(/^(EACCES|EPERM)$/) });
  });

  test("none reads the service's files: keys, uploads, the database", async () => {
    const kept = readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(join(dataDir, 'builds')))
      // Holds a process id that other services read.
      .filter(({ name }) => !/^lock\.\d+$/.test(name))
      .map((entry) => join(entry.parentPath, entry.name));
    expect(kept).toContain(join(dataDir, 'api-key'));
    for (const file of kept) {
      expect([file, await mine('read', file)]).toEqual([file, { done: false, code: 'EACCES' }]);
    }
  });

  test('neither did their install scripts', async () => {
    expect(said(await mine('text', 'stolen.txt'))).toBe('');
  });
});

describe.each(asRoot ? [] : ['an ordinary user'])('agents of a service of %s', () => {
  test("share the service's user, and so are not protected from one another", async () => {
    for (const [, requested] of reached.slice(0, 2)) expect(await mine(...requested())).toMatchObject({ done: true });
  });
});

test(`${byWhom} runs agents as ${asRoot ? 'users of their own' : 'itself'}`, async () => {
  const { ids, warning, folder } = await isolate({ dataDir, agentServer: pryingAgent, log: silentLogger });
  expect({ ids: ids !== undefined, warned: warning !== undefined, folder }).toEqual({
    ids: asRoot,
    warned: !asRoot,
    folder: dataDir,
  });
});
