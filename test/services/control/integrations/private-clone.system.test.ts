import { loggerTo } from '../../../logger.ts';
// Clones a private repository from a stand-in for GitHub on loopback, and searches everything that could reveal the
// token during and after a build.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { Deployment } from '../../../../src/contract/control/deployment.ts';
import { makeBuild } from '../../../../src/services/control/builds/make-build.ts';
import { githubApp } from '../../../../src/services/control/integrations/github-app.ts';
import { startLocal, type LocalServices } from '../../../../src/services/control/local.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { testGitHub, type TestGitHub } from '../../../demo/github/github.ts';
import { plainAgent } from '../builds/repositories.ts';
import { fakeAgent } from '../compute/agents.ts';
import { refusalOf } from '../service-fixture.ts';

/** Runs in the build and records everything that it can see of its environment. */
const curious = {
  ...plainAgent,
  'look.sh':
    'env > seen-env; cat .git/config > seen-config 2>/dev/null; ps axeww > seen-ps 2>/dev/null; ls -la > seen-ls; true',
};

let demo: TestGitHub;
let services: LocalServices;
let folder = '';
const tokens: { token: string; call: unknown }[] = [];
const lines: string[] = [];
const atTheEnd: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  demo = await testGitHub({
    owners: ['acme', 'globex'],
    onExchange: ({ call, answer: { body } }) => {
      if (!call.template.endsWith('/access_tokens')) return;
      const token: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'token') : undefined;
      if (typeof token === 'string') tokens.push({ token, call: call.body });
    },
  });
  atTheEnd.push(() => demo.stop());
  const from = await demo.files(curious);
  for (const name of ['acme/secret-agent', 'acme/gone', 'globex/their-agent']) {
    await demo.github.createRepository(name, { from, isPrivate: true });
  }
  await demo.github.install('acme');
  const postgres = await startTestPostgres();
  atTheEnd.push(() => postgres.stop());
  folder = mkdtempSync(join(tmpdir(), 'landfall-clone-'));
  // Keeps builds of other users here too.
  chmodSync(folder, 0o711);
  atTheEnd.push(() => rmSync(folder, { recursive: true, force: true }));
  services = await startLocal({
    port: 0,
    dataDir: folder,
    databaseUrl: postgres.url,
    allowGit: [],
    github: { appId: demo.github.app.id, privateKey: demo.github.app.privateKey, apiUrl: demo.github.url },
    agentServer: fakeAgent,
    clock: systemClock,
    log: loggerTo((line) => lines.push(line)),
  });
  atTheEnd.push(() => services.close());
});
afterAll(async () => {
  for (const end of atTheEnd.reverse()) await end();
});

const integrationId = async (): Promise<string> => (await services.control.listIntegrations())[0]?.id ?? '';
const urlOf = (fullName: string): string => demo.github.gitUrl(fullName);

let names = 0;
const deploy = async (fullName: string, more: object = {}): Promise<Deployment> =>
  services.control.createDeployment({
    name: `private-${(names += 1)}`,
    source: 'github',
    source_config: {
      repo_url: urlOf(fullName),
      integration_id: await integrationId(),
      build_command: 'sh look.sh',
      ...more,
    },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });

async function end(made: Deployment): Promise<{ status: string; message: string; log: string }> {
  const revisionId = made.latest_revision_id ?? '';
  for (;;) {
    const { status, status_message } = await services.control.getRevision(made.id, revisionId);
    if (/^(DEPLOYED|.*FAILED)$/.test(status)) {
      const { logs } = await services.control.buildLogs(made.id, revisionId, { limit: 1000 });
      return { status, message: status_message ?? '', log: logs.map(({ message }) => message).join('\n') };
    }
    await systemClock.sleep(30);
  }
}

/** Every file below a folder that contains one of the words in any encoding. */
function filesWith(root: string, words: readonly string[]): string[] {
  const spelled = words.flatMap((word) => [word, Buffer.from(`x-access-token:${word}`).toString('base64')]);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'api-key')
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => {
      const text = readFileSync(file, 'latin1');
      return spelled.some((word) => text.includes(word));
    });
}

/** Polls the command lines of all processes; the returned function says whether one contained a word. */
function watchCommandLines(): () => boolean {
  const seen = new Set<string>();
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      } catch {
        // The process has exited.
      }
    }
  }, 5);
  return () => {
    clearInterval(timer);
    const words = tokens.flatMap(({ token }) => [token, Buffer.from(`x-access-token:${token}`).toString('base64')]);
    return [...seen].some((line) => words.some((word) => line.includes(word)));
  };
}

test('the only tenant sees the App’s installations and private repositories', async () => {
  expect(await services.control.listIntegrations()).toEqual([
    { id: expect.any(String), installation_id: demo.github.installationId('acme'), name: 'acme' },
  ]);
  const repositories = await services.control.listRepositories(await integrationId());
  expect(repositories.map(({ owner, name }) => `${owner}/${name}`).toSorted()).toEqual([
    'acme/gone',
    'acme/secret-agent',
  ]);
});

test('clones a private repository without revealing its token', async () => {
  tokens.length = 0;
  const inCommandLines = watchCommandLines();
  const made = await deploy('acme/secret-agent');
  const { status, message, log } = await end(made);
  expect(inCommandLines()).toBe(false);
  expect([status, message]).toEqual(['DEPLOYED', '']);
  const used = tokens.filter(({ call }) => JSON.stringify(call).includes('contents'));
  expect(used.map(({ call }) => call)).toEqual([{ permissions: { contents: 'read' }, repositories: ['secret-agent'] }]);
  const words = tokens.map(({ token }) => token);
  // The build recorded its environment, the configuration of its clone and the process list.
  const looked = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('seen-env'));
  expect(looked.length).toBeGreaterThan(0);
  expect(filesWith(folder, words)).toEqual([]);
  for (const word of words) for (const text of [log, lines.join('\n')]) expect(text).not.toContain(word);
});

test('revokes the token before code of the repository runs', async () => {
  const { token } = tokens.find(({ call }) => JSON.stringify(call).includes('contents')) ?? { token: '' };
  const answer = await fetch(`${urlOf('acme/secret-agent')}/info/refs?service=git-upload-pack`, {
    headers: { authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` },
  });
  expect(answer.status).toBe(401);
});

test('a token gives read access to a single repository', async () => {
  const app = githubApp({
    appId: demo.github.app.id,
    privateKey: demo.github.app.privateKey,
    apiUrl: demo.github.url,
    clock: systemClock,
  });
  const made = await app.cloneToken(demo.github.installationId('acme'), { owner: 'acme', name: 'secret-agent' });
  if (made.kind !== 'token') throw new Error('there is no token');
  const status = async (fullName: string, service = 'git-upload-pack'): Promise<number> => {
    const authorization = `Basic ${Buffer.from(`x-access-token:${made.token}`).toString('base64')}`;
    return (await fetch(`${urlOf(fullName)}/info/refs?service=${service}`, { headers: { authorization } })).status;
  };
  expect(await status('acme/secret-agent')).toBe(200);
  expect(await status('acme/gone')).not.toBe(200);
  expect(await status('acme/secret-agent', 'git-receive-pack')).not.toBe(200);
  await app.endToken(made.token);
  expect(await status('acme/secret-agent')).toBe(401);
  await app.endToken(made.token);
  expect(await app.cloneToken(demo.github.installationId('acme'), { owner: 'globex', name: 'secret-agent' })).toEqual({
    kind: 'not-held',
  });
});

test("rejects a repository that the installation can't access", async () => {
  expect(await refusalOf(deploy('globex/their-agent'))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('the installation of acme does not hold'),
  });
});

test('a private repository without an integration fails with what to do', async () => {
  const { status, message } = await end(await deploy('acme/secret-agent', { integration_id: null }));
  expect([status, message]).toEqual(['BUILD_FAILED', expect.stringContaining('source_config.integration_id')]);
});

test('a token revoked before its use fails the build without revealing it', async () => {
  const said: string[] = [];
  let revoked = '';
  const app = githubApp({
    appId: demo.github.app.id,
    privateKey: demo.github.app.privateKey,
    apiUrl: demo.github.url,
    clock: systemClock,
  });
  const built = await makeBuild(
    {
      revisionId: '00000000-0000-4000-8000-000000000001',
      tenantId: services.tenantId,
      from: {
        kind: 'git',
        repoUrl: urlOf('acme/secret-agent'),
        repoRef: 'main',
        token: async () => {
          const made = await app.cloneToken(demo.github.installationId('acme'), {
            owner: 'acme',
            name: 'secret-agent',
          });
          revoked = made.kind === 'token' ? made.token : '';
          await app.endToken(revoked);
          return { ok: true, value: revoked };
        },
      },
      graphConfigPath: 'langgraph.json',
      installCommand: undefined,
      buildCommand: undefined,
      secrets: [],
      log: (_, message) => void said.push(message),
      onCommit: () => Promise.resolve(),
    },
    { dataDir: join(folder, 'apart'), allowGit: [], clock: systemClock },
    new AbortController().signal,
  );
  expect(built).toMatchObject({ kind: 'failed', reason: expect.stringContaining('is private or does not exist') });
  expect(revoked).not.toBe('');
  expect([JSON.stringify(built), ...said].join('\n')).not.toContain(revoked);
  expect(filesWith(join(folder, 'apart'), [revoked])).toEqual([]);
});

test('a build fails with the reason after the App was uninstalled', async () => {
  const integration_id = await integrationId();
  await demo.github.uninstall('acme');
  const made = await services.control.createDeployment({
    name: 'uninstalled',
    source: 'github',
    source_config: { repo_url: urlOf('acme/gone'), integration_id },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  const { status, message } = await end(made);
  expect([status, message]).toEqual(['BUILD_FAILED', expect.stringMatching(/still installed|removed or suspended/)]);
});
