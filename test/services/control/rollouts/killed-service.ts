import { loggerTo } from '../../../logger.ts';
// Runs a control service to be killed: one revision is live, one is being built, one waits.
import * as z from 'zod';
import { systemClock } from '../../../../src/kit/clock.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { Gateway } from '../../../../src/services/control/gateway/gateway.ts';
import { Rollouts } from '../../../../src/services/control/rollouts/rollouts.ts';
import { createControlService } from '../../../../src/services/control/service.ts';
import { createStore } from '../../../../src/services/control/store/store.ts';
import type { ControlTables } from '../../../../src/services/control/store/tables.ts';
import { openDatabase } from '../../../../src/kit/postgres/database.ts';
import { ask, fakeAgent } from '../compute/agents.ts';

const machine = z
  .object({
    dataDir: z.string(),
    repo: z.string(),
    allowGit: z.array(z.string()),
    databaseUrl: z.string(),
    tenantId: z.string(),
  })
  .parse(JSON.parse(process.argv[2] ?? ''));

const { dataDir, repo, allowGit, databaseUrl, tenantId } = machine;
const clock = systemClock;
const log = loggerTo((message: string): void => console.error(message));
const { db } = openDatabase<ControlTables>({ url: databaseUrl });
const store = createStore(db, clock);
const gateway = new Gateway({ authorize: async () => 'allowed', clock, log });
const compute = processCompute({ clock, agentServer: fakeAgent, drainMs: 0 });
const rollouts = new Rollouts({
  store,
  dataDir,
  adminDatabaseUrl: databaseUrl,
  allowGit,
  gateway,
  compute,
  clock,
  log,
});
const control = createControlService({ store, rollouts, tenantId, baseUrl: () => 'http://here', allowGit });
await rollouts.recover();

const deployment = await control.createDeployment({
  name: 'killed',
  source: 'github',
  source_config: { repo_url: repo },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
  secrets: [],
});
const statusOf = async (revisionId: string): Promise<string> =>
  (await control.getRevision(deployment.id, revisionId)).status;
const live = deployment.latest_revision_id ?? '';
while ((await statusOf(live)) !== 'DEPLOYED') await clock.sleep(20);

const upstream = gateway.live(deployment.id);
if (!upstream) throw new Error('nothing is live');
const answer = await ask(upstream, '/pid');
const agent = z.object({ pid: z.number() }).parse(await answer.json()).pid;

await control.patchDeployment(deployment.id, { source_config: { build_command: 'sh slow.sh' } });
const restate = { source_revision_config: { repo_ref: 'main' } };
const building = (await control.patchDeployment(deployment.id, restate)).latest_revision_id ?? '';
while ((await statusOf(building)) !== 'BUILDING') await clock.sleep(20);
const waiting = (await control.patchDeployment(deployment.id, restate)).latest_revision_id ?? '';
while ((await statusOf(waiting)) !== 'QUEUED') await clock.sleep(20);
console.log(JSON.stringify({ live, building, waiting, agent }));
