import { loggerTo } from '../../../logger.ts';
// Runs a control service to be killed: it deletes deployments, each of which is held at another step of its deletion.
import * as z from 'zod';
import { systemClock } from '../../../../src/kit/clock.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { Gateway } from '../../../../src/services/control/gateway/gateway.ts';
import { Rollouts } from '../../../../src/services/control/rollouts/rollouts.ts';
import { createControlService } from '../../../../src/services/control/service.ts';
import { createStore, type ControlStore } from '../../../../src/services/control/store/store.ts';
import type { ControlTables } from '../../../../src/services/control/store/tables.ts';
import { openDatabase } from '../../../../src/kit/postgres/database.ts';
import { ask, fakeAgent } from '../compute/agents.ts';

const { dataDir, repo, allowGit, databaseUrl, tenantId } = z
  .object({
    dataDir: z.string(),
    repo: z.string(),
    allowGit: z.array(z.string()),
    databaseUrl: z.string(),
    tenantId: z.string(),
  })
  .parse(JSON.parse(process.argv[2] ?? ''));
const steps = process.argv.slice(3);

const clock = systemClock;
const log = loggerTo((message: string): void => console.error(message));
const { db } = openDatabase<ControlTables>({ url: databaseUrl });
/** The step that each deployment is held at, once it is being deleted. */
const heldAt = new Map<string, string>();
let held = 0;
/** Returns, unless the deployment is to be held at this step: then never. */
async function pass(id: string, step: string): Promise<void> {
  if (heldAt.get(id) !== step) return;
  held += 1;
  await new Promise(() => undefined);
}
const kept = createStore(db, clock);
const store: ControlStore = {
  ...kept,
  async deployment(id) {
    await pass(id, 'requested');
    return kept.deployment(id);
  },
  async noteStopped(id) {
    await pass(id, 'agents ended');
    const noted = await kept.noteStopped(id);
    await pass(id, 'nothing runs');
    return noted;
  },
  async revisionIds(id) {
    await pass(id, 'database dropped');
    return kept.revisionIds(id);
  },
  async finishDeletion(id) {
    await pass(id, 'files removed');
    return kept.finishDeletion(id);
  },
};
const gateway = new Gateway({ authorize: async () => 'allowed', clock, log });
const rollouts = new Rollouts({
  store,
  dataDir,
  adminDatabaseUrl: databaseUrl,
  allowGit,
  gateway,
  compute: processCompute({ clock, agentServer: fakeAgent, drainMs: 0 }),
  clock,
  log,
});
const control = createControlService({ store, rollouts, tenantId, baseUrl: () => 'http://here', allowGit });
await rollouts.recover();

async function goLive(step: string): Promise<{ id: string; agent: number }> {
  const { id, latest_revision_id } = await control.createDeployment({
    name: `held-${step.replaceAll(' ', '-')}`,
    source: 'github',
    source_config: { repo_url: repo },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  while ((await control.getRevision(id, latest_revision_id ?? '')).status !== 'DEPLOYED') await clock.sleep(20);
  const upstream = gateway.live(id);
  if (!upstream) throw new Error('nothing is live');
  const answer = await ask(upstream, '/pid');
  return { id, agent: z.object({ pid: z.number() }).parse(await answer.json()).pid };
}

const live = await Promise.all(steps.map(goLive));
for (const [at, { id }] of live.entries()) {
  heldAt.set(id, steps[at] ?? '');
  await control.deleteDeployment(id, { delete_tracing_project: true });
}
while (held < steps.length) await clock.sleep(20);
console.log(JSON.stringify(live));
