import { silentLogger } from '../../../src/kit/logger.ts';
import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ShownRun } from '../../../src/demo/github/people.ts';
import { startAppCopy, type AppCopy } from '../../app/burst/app-copy.ts';
import { startBurstService, type BurstService } from '../../app/burst/burst-service.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { testGitHub, type Clone, type TestGitHub } from './github.ts';

// The App as `npm start` runs it, against GitHub as in its OpenAPI document: every request and response is validated,
// and a mismatch fails the file when GitHub is stopped.

const name = 'acme/agents';
const check = 'Landfall: echo';

let demo: TestGitHub;
let database: TestPostgres;
let appDatabase: TestPostgres;
let service: BurstService;
let app: AppCopy;
let clone: Clone;
let deploymentId: string;
let folder: string;
let missed: string;

beforeAll(async () => {
  [database, appDatabase] = await Promise.all([startTestPostgres(), startTestPostgres()]);
  demo = await testGitHub({ people: ['mona', 'writer', 'stranger'] });
  const { github } = demo;
  const from = await demo.files({ 'langgraph.json': '{}', 'README.md': '# Agents\n' });
  await github.createRepository(name, { from, writers: ['writer'] });
  service = await startBurstService({
    databaseUrl: database.url,
    dataDir: join(demo.folder, 'data'),
    gitFolder: join(demo.folder, 'no-such-folder'),
    headOf: (repoUrl) => gitSync(new URL(repoUrl).pathname),
    log: silentLogger,
  });
  const { id } = await service.control.createDeployment({
    name: 'echo',
    source: 'github',
    source_config: { repo_url: github.gitUrl(name), build_on_push: true },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  deploymentId = id;
  await until(async () => (await service.control.getDeployment(id)).active_revision_id);
  folder = join(demo.folder, 'app');
  await mkdir(folder);
  await github.install('acme');
  clone = await demo.clone(name);
  // No listener yet: the App misses this push.
  github.sendWebhooksTo('http://127.0.0.1:9/');
  missed = await clone.commit('Before it is there', { 'a.txt': 'a' });
  await clone.push();
  await github.settled();
  app = await startApp();
});

afterEach(async () => {
  await demo.github.settled();
});

afterAll(async () => {
  await app.stop();
  await service.close();
  await demo.stop();
  await Promise.all([database.stop(), appDatabase.stop()]);
});

/** The head of a repository's branch, as our control service would find it at this moment. */
const gitSync = (path: string): string =>
  execFileSync('git', ['-C', join(demo.folder, 'repositories', path), 'rev-parse', 'refs/heads/main'])
    .toString()
    .trim();

async function startApp(): Promise<AppCopy> {
  const { github } = demo;
  const started = await startAppCopy(folder, {
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    WEBHOOK_SECRET: github.app.webhookSecret,
    GITHUB_API_URL: github.url,
    LANDFALL_BASE_URL: service.url,
    LANDFALL_API_KEY: service.apiKey,
    DATABASE_URL: appDatabase.url,
  });
  github.sendWebhooksTo(`${started.url}/`);
  return started;
}

/** Polls until something is found or the timeout expires. */
async function until<T>(find: () => Promise<T | undefined | null | false>): Promise<T> {
  const end = performance.now() + 120_000;
  for (;;) {
    const found = await find();
    if (found) return found;
    if (performance.now() > end)
      throw new Error(`waited in vain; the App said:\n${app?.said().slice(-3_000) ?? 'nothing'}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const ended = (commit: string, wanted = check): Promise<ShownRun> =>
  until(async () =>
    (await demo.github.checkRuns(name, commit)).find((run) => run.name === wanted && run.status === 'completed'),
  );

async function revisions(): Promise<string[]> {
  const { resources } = await service.control.listRevisions(deploymentId, { limit: 100 });
  return resources.map(({ id }) => id);
}

describe('the App on GitHub', () => {
  test('builds what was pushed before it started, after a redelivery', async () => {
    expect(await ended(missed)).toMatchObject({ conclusion: 'success' });
    expect(demo.github.deliveries().some(({ isRedelivery, event }) => isRedelivery && event === 'push')).toBe(true);
  });

  test('makes one revision of a push, despite repeated and lost webhooks', async () => {
    const before = await revisions();
    const call = demo.github.requests.length;
    const commit = await clone.commit('Change', { 'b.txt': 'b' });
    let made = 0;
    demo.github.interfere(({ method, template }) => {
      const isCheck = method === 'POST' && template === '/repos/{owner}/{repo}/check-runs';
      return isCheck && (made += 1) === 1 ? 'lose' : undefined;
    });
    await clone.push();
    const push = demo.github.deliveries().findLast(({ event }) => event === 'push');
    for (const guid of [push?.guid, push?.guid, push?.guid]) {
      expect((await demo.github.deliver(guid ?? '')).response?.statusCode).toBe(202);
    }
    expect(await ended(commit)).toMatchObject({ conclusion: 'success' });
    demo.github.interfere(undefined);
    expect(await revisions()).toHaveLength(before.length + 1);
    await until(async () =>
      demo.github
        .deploymentsOf(name)
        .some(({ sha, statuses }) => sha === commit && statuses.at(-1)?.['state'] === 'success'),
    );
    expect(demo.github.requests.length - call).toBeLessThan(40);
    const headers = { authorization: `token ${demo.github.tokenOf('mona')}` };
    const path = `/repos/${name}/commits/${commit}/check-runs?filter=all`;
    expect(await (await fetch(`${demo.github.url}${path}`, { headers })).json()).toMatchObject({ total_count: 1 });
  });

  test('accepts Redeploy from those with write access, and once', async () => {
    const commit = (await demo.github.headOf(name)) ?? '';
    const run = await ended(commit);
    expect(run.buttons).toContain('redeploy');
    const before = await revisions();
    await demo.github.pressButton(name, run.id, 'redeploy', 'stranger');
    await demo.github.pressButton(name, run.id, 'redeploy', 'writer');
    await until(async () => (await revisions()).length > before.length);
    await ended(commit);
    expect(await revisions()).toHaveLength(before.length + 1);
  });

  test("reports a check for a pull request's head and a merge group", async () => {
    await clone.git('checkout', '--quiet', '-b', 'feature');
    const head = await clone.commit('Feature', { 'f.txt': 'f' });
    await clone.push();
    const number = await demo.github.openPullRequest(name, { title: 'F', head: 'feature', base: 'main', by: 'writer' });
    expect(await ended(head, 'Landfall')).toBeDefined();
    expect(await ended(await demo.github.queue(name, number), 'Landfall')).toBeDefined();
    await clone.git('checkout', '--quiet', 'main');
  });

  test("reports a check for a fork's pull request, and builds nothing of it", async () => {
    const before = await revisions();
    const fork = await demo.github.fork(name, 'stranger');
    const theirs = await demo.clone(fork, 'stranger');
    await theirs.git('checkout', '--quiet', '-b', 'idea');
    const head = await theirs.commit('Idea', { 'i.txt': 'i' });
    await theirs.push();
    await demo.github.openPullRequest(name, { title: 'I', head: 'stranger:idea', base: 'main', by: 'stranger' });
    expect(await ended(head, 'Landfall')).toMatchObject({ status: 'completed' });
    expect(await revisions()).toEqual(before);
  });
});
