import { silentLogger } from '../../../../src/kit/logger.ts';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { removeIsolated } from '../../../../src/services/control/isolation/isolation.ts';
import { startLocal, type LocalServices } from '../../../../src/services/control/local.ts';
import { removeEmbeddedData } from '../../../../src/kit/postgres/embedded.ts';
import { plainAgent, repository, temporaryFolder } from '../builds/repositories.ts';
import { fromGit } from '../service-fixture.ts';
import { attempt, pryingAgent, said, type Attempt, type Tried } from './prying.ts';

const atTheEnd: (() => void)[] = [];
let dataDir: string;
let repo: string;
let services: LocalServices;
const urls: string[] = [];

const tryIn = (which: number, ...requested: Attempt): Promise<Tried> =>
  attempt(urls[which] ?? '', { 'x-api-key': services.apiKey }, requested);

async function deploy(name: string): Promise<void> {
  const { id, latest_revision_id, url } = await services.control.createDeployment({
    ...fromGit({ source_config: { repo_url: repo }, source_revision_config: { graph_config_path: 'langgraph.json' } }),
    name,
  });
  await vi.waitFor(
    async () => {
      const { status, status_message } = await services.control.getRevision(id, latest_revision_id ?? '');
      if (status !== 'DEPLOYED') throw new Error(`${status} ${status_message ?? ''}`);
    },
    { timeout: 120_000, interval: 50 },
  );
  urls.push(url ?? '');
}

// Without root there are no other users: an agent can do what its service can.
describe.runIf(process.getuid?.() === 0)('the embedded database of a service that is root', () => {
  beforeAll(async () => {
    const root = temporaryFolder(atTheEnd);
    dataDir = join(root, 'data');
    repo = repository(join(root, 'git/agent'), plainAgent).folder;
    services = await startLocal({
      port: 0,
      dataDir,
      allowGit: [join(root, 'git')],
      clock: systemClock,
      log: silentLogger,
      agentServer: pryingAgent,
    });
    await deploy('one');
    await deploy('two');
  });

  afterAll(async () => {
    await services.close();
    await removeIsolated(dataDir);
    await removeEmbeddedData({ dataDir: join(dataDir, 'postgres'), log: silentLogger });
    for (const remove of atTheEnd) remove();
  });

  test('ends the queries of closed connections', async () => {
    const running = `select count(*)::int as n from pg_stat_activity where query = 'select pg_sleep(3600)'`;
    expect(await tryIn(0, 'abandon', '10')).toMatchObject({ done: true });
    expect(said(await tryIn(0, 'query', running))).toBe('[{"n":10}]');
    await vi.waitFor(async () => expect(said(await tryIn(0, 'query', running))).toBe('[{"n":0}]'), 20_000);
  });

  test('accepts other clients while an agent holds connections that never log in', async () => {
    expect(await tryIn(0, 'hold', '400')).toMatchObject({ done: true });
    for (let round = 0; round < 5; round += 1) {
      expect(said(await tryIn(1, 'query', 'select 1 as n'))).toBe('[{"n":1}]');
      expect((await services.control.listDeployments({})).resources).toHaveLength(2);
    }
    await deploy('three');
    expect(said(await tryIn(2, 'query', 'select 1 as n'))).toBe('[{"n":1}]');
  });

  test('is reached by each agent only through its own socket', async () => {
    const way = said(await tryIn(1, 'run', 'printf %s "$DATABASE_URI"'));
    const folder = new URL(way).searchParams.get('host') ?? '';
    expect(await tryIn(1, 'list', folder)).toMatchObject({ done: true });
    expect(await tryIn(0, 'list', folder)).toEqual({ done: false, code: 'EACCES' });
    expect(await tryIn(1, 'list', join(folder, '..'))).toEqual({ done: false, code: 'EACCES' });
  });
});
