import { loggerTo } from '../../../logger.ts';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { removeIsolated } from '../../../../src/services/control/isolation/isolation.ts';
import { startLocal } from '../../../../src/services/control/local.ts';
import type { LocalServices } from '../../../../src/services/control/local.ts';
import { databaseNamed } from '../databases-of.ts';
import { dropAgentDatabase } from '../../../../src/kit/postgres/databases.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';
import { graphConfig, repository, temporaryFolder } from '../builds/repositories.ts';
import { openFakeAgent } from '../compute/agents.ts';
import { httpControl } from '../http-control.ts';
import { fromGit, fromImage, unknownId, refusalOf } from '../service-fixture.ts';

const undo: (() => void)[] = [];
let postgres: TestPostgres;
let services: LocalServices;
let dataDir: string;
let repo: { folder: string; commit: string };
const logged: string[] = [];

beforeAll(async () => {
  const root = temporaryFolder(undo);
  dataDir = join(root, 'data');
  repo = repository(join(root, 'git/agent'), {
    'agents/a/langgraph.json': graphConfig,
    'agents/a/graph.js': 'export const graph = {};\n',
    'package.json': JSON.stringify({ name: 'agent', version: '1.0.0' }),
    'package-lock.json': JSON.stringify({ name: 'agent', version: '1.0.0', lockfileVersion: 3, packages: {} }),
  });
  postgres = await startTestPostgres();
  services = await startLocal({
    port: 0,
    dataDir,
    databaseUrl: postgres.url,
    allowGit: [join(root, 'git')],
    clock: systemClock,
    log: loggerTo((message) => logged.push(message)),
    compute: processCompute({ clock: systemClock, ...openFakeAgent(root), drainMs: 2_000 }),
  });
});

afterAll(async () => {
  const { resources } = await services.control.listDeployments({ limit: 100 });
  await services.close();
  for (const { id } of resources) await dropAgentDatabase(postgres.adminUrl, await databaseNamed(postgres.url, id));
  await postgres.stop();
  await removeIsolated(dataDir);
  for (const remove of undo) remove();
});

describe('over HTTP', () => {
  const send = () => httpControl(services.url, services.apiKey);
  const request = (source_config: object = {}, secrets: object[] = []) => ({
    ...fromGit({
      source_config: { repo_url: repo.folder, ...source_config },
      source_revision_config: { graph_config_path: 'agents/a/langgraph.json' },
    }),
    secrets,
  });

  async function live(body: unknown) {
    const control = send();
    const { id, latest_revision_id } = await control.createDeployment(body);
    const revisionId = latest_revision_id ?? '';
    await expect
      .poll(async () => (await control.getRevision(id, revisionId)).status, { timeout: 120_000, interval: 25 })
      .toBe('DEPLOYED');
    const { logs } = await control.buildLogs(id, revisionId, { limit: 1_000 });
    return { ...(await control.getDeployment(id)), revisionId, lines: logs.map(({ message }) => message) };
  }

  const ask = (url: string, path: string, key = services.apiKey) =>
    fetch(`${url}${path}`, { headers: { 'x-api-key': key } });

  test(
    'a deployment is built from a git repository and serves its owner',
    {
      meta: {
        claims: [
          'control.service.source-git',
          'control.flow.poll-until-deployed',
          'control.source-config.custom-url-automatic',
        ],
      },
    },
    async () => {
      const { id, url, revisionId, source_config, source_revision_config } = await live(
        request({ install_command: 'true' }),
      );
      expect(source_revision_config.repo_commit_sha).toBe(repo.commit);
      expect([source_config.custom_url, url]).toEqual([`${services.url}/agents/${id}`, `${services.url}/agents/${id}`]);
      const answer = await ask(url ?? '', '/ok');
      expect([answer.status, await answer.json()]).toMatchObject([200, { revision: revisionId }]);
      expect((await fetch(`${url}/ok`)).status).toBe(401);
      expect((await ask(url ?? '', '/ok', `lf_${'0'.repeat(16)}_${'a'.repeat(43)}`)).status).toBe(401);
      expect((await ask(`${services.url}/agents/${unknownId()}`, '/ok')).status).toBe(404);
      expect((await ask(`${services.url}/agents/agent`, '/ok')).status).toBe(404);
    },
  );

  test(
    'commands run in the documented folder',
    { meta: { claims: ['control.source-config.install-command-runs', 'control.source-config.build-command-runs'] } },
    async () => {
      const { lines } = await live(request({ install_command: 'pwd', build_command: 'pwd' }));
      const folders = lines.filter((line) => line.startsWith('/'));
      expect(folders).toEqual([expect.stringMatching(/\/source$/), expect.stringMatching(/\/source\/agents\/a$/)]);
    },
  );

  test(
    'without install_command the lock file selects the install command',
    { meta: { claims: ['control.source-config.install-command-detected'] } },
    async () => {
      const { lines } = await live(request());
      expect(lines.find((line) => line.startsWith('Installing'))).toContain('npm ci');
    },
  );

  test(
    'the agent has every secret in its environment, and no log has one',
    { meta: { claims: ['control.secret.in-environment'] } },
    async () => {
      const secrets = [
        { name: 'MODEL_KEY', value: 'canary-91c0de' },
        { name: 'FAKE_SAY', value: 'canary-say-91c0de' },
      ];
      const { id, revisionId, url } = await live(request({ install_command: 'true' }, secrets));
      expect(await (await ask(url ?? '', '/env')).json()).toMatchObject({ MODEL_KEY: 'canary-91c0de' });
      const logs = [
        await send().buildLogs(id, revisionId, {}),
        await send().deployLogs(id, revisionId, {}),
        await send().listRevisions(id, {}),
        logged,
      ];
      expect(JSON.stringify(logs)).not.toContain('91c0de');
    },
  );

  test('source that this machine cannot run fails with a clear reason', async () => {
    const { id, latest_revision_id } = await send().createDeployment(fromImage());
    const revision = () => send().getRevision(id, latest_revision_id ?? '');
    await expect.poll(async () => (await revision()).status).toBe('DEPLOY_FAILED');
    expect((await revision()).status_message).toMatch(/docker|podman|image/);
    expect(await send().getDeployment(id)).toMatchObject({ status: 'READY', active_revision_id: null });
  });

  test('a folder that is not allowed is refused', async () => {
    expect(await refusalOf(send().createDeployment(request({ repo_url: '/etc' })))).toMatchObject({ status: 400 });
  });
});
