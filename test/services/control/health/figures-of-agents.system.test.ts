import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { Health } from '../../../../src/contract/control/health.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { removeIsolated } from '../../../../src/services/control/isolation/isolation.ts';
import { startLocal, type LocalServices } from '../../../../src/services/control/local.ts';
import { dropAgentDatabase } from '../../../../src/kit/postgres/databases.ts';
import { loggerTo } from '../../../logger.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';
import { graphConfig, repository, temporaryFolder } from '../builds/repositories.ts';
import { openFakeAgent } from '../compute/agents.ts';
import { databaseNamed } from '../databases-of.ts';
import { httpControl } from '../http-control.ts';
import { fromGit } from '../service-fixture.ts';

const undo: (() => void)[] = [];
let postgres: TestPostgres;
let services: LocalServices;
let root: string;
let repo: { folder: string };

const start = async (): Promise<LocalServices> =>
  startLocal({
    port: 0,
    dataDir: join(root, 'data'),
    databaseUrl: postgres.url,
    allowGit: [join(root, 'git')],
    clock: systemClock,
    log: loggerTo(() => undefined),
    compute: processCompute({ clock: systemClock, ...openFakeAgent(root), drainMs: 2_000 }),
  });

beforeAll(async () => {
  root = temporaryFolder(undo);
  repo = repository(join(root, 'git/agent'), {
    'langgraph.json': graphConfig,
    'graph.js': 'export const graph = {};\n',
  });
  postgres = await startTestPostgres();
  services = await start();
});
afterAll(async () => {
  const { resources } = await services.control.listDeployments({ limit: 100 });
  await services.close();
  for (const { id } of resources) await dropAgentDatabase(postgres.adminUrl, await databaseNamed(postgres.url, id));
  await postgres.stop();
  await removeIsolated(join(root, 'data'));
  for (const remove of undo) remove();
});

test('requests and failures of an agent are read again after a restart of the service', async () => {
  const control = httpControl(services.url, services.apiKey);
  const { id, latest_revision_id } = await control.createDeployment(
    fromGit({
      source_config: { repo_url: repo.folder, install_command: 'true' },
      source_revision_config: { graph_config_path: 'langgraph.json' },
    }),
  );
  const revisionId = latest_revision_id ?? '';
  await expect
    .poll(async () => (await control.getRevision(id, revisionId)).status, { timeout: 120_000, interval: 25 })
    .toBe('DEPLOYED');
  const statusOf = (path: string): Promise<number> =>
    fetch(`${services.url}/agents/${id}${path}`, { headers: { 'x-api-key': services.apiKey } }).then(async (answer) => {
      await answer.text();
      return answer.status;
    });
  expect(await Promise.all(['/ok', '/ok', '/stream'].map(statusOf))).toEqual([200, 200, 200]);
  expect(await statusOf('/crash')).toBe(502);
  // Stored within seconds, while the service runs.
  const totals = ({ points }: Health): [number, number] => [
    points.reduce((sum, { requests }) => sum + requests, 0),
    points.reduce((sum, { errors }) => sum + errors, 0),
  ];
  await expect
    .poll(async () => totals(await control.deploymentHealth(id, {})), { timeout: 120_000, interval: 100 })
    .toEqual([4, 1]);
  // Stored when the service ends.
  await statusOf('/ok');
  await services.close();
  services = await start();
  const read = await httpControl(services.url, services.apiKey).deploymentHealth(id, {});
  expect(totals(read)[0]).toBe(5);
  expect(read.deploys).toEqual([{ revision_id: revisionId, at: expect.any(String) }]);
});
