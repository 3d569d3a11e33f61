import type { Logger } from '../../../src/kit/logger.ts';
// Our control service with two makers of revisions behind one address: one that takes no time, and the real one.
import { once } from 'node:events';
import { systemClock } from '../../../src/kit/clock.ts';
import { processCompute } from '../../../src/services/control/compute/process-compute.ts';
import { Gateway } from '../../../src/services/control/gateway/gateway.ts';
import { admitToAgent } from '../../../src/services/control/api-keys/admit.ts';
import { hashApiKey, makeApiKey } from '../../../src/services/control/api-keys/api-key.ts';
import { databaseOf } from '../../../src/services/control/rollouts/agent-database.ts';
import { Rollouts } from '../../../src/services/control/rollouts/rollouts.ts';
import { createApp } from '../../../src/services/control/api/app.ts';
import { createHttpServer } from '../../../src/services/control/server.ts';
import { createControlService, type OurControlService } from '../../../src/services/control/service.ts';
import { controlMigrations, controlSchema } from '../../../src/services/control/store/migrations.ts';
import { createStore } from '../../../src/services/control/store/store.ts';
import type { ControlTables } from '../../../src/services/control/store/tables.ts';
import { openDatabase } from '../../../src/kit/postgres/database.ts';
import { dropAgentDatabase } from '../../../src/kit/postgres/databases.ts';
import { migrate } from '../../../src/kit/postgres/migrate.ts';
import { instantBuilds } from './instant-builds.ts';

/** A control service that builds a deployment for real if its repository is a folder, and instantly otherwise. */
export interface BurstService {
  url: string;
  apiKey: string;
  control: OurControlService;
  close(): Promise<void>;
}

export interface BurstServiceSettings {
  databaseUrl: string;
  dataDir: string;
  /** The folder of the repositories that are really built. */
  gitFolder: string;
  /** The commit that a repository's address stands at. */
  headOf: (repoUrl: string) => string;
  log: Logger;
}

export async function startBurstService(settings: BurstServiceSettings): Promise<BurstService> {
  const { databaseUrl, dataDir, gitFolder, headOf, log } = settings;
  const clock = systemClock;
  const database = openDatabase<ControlTables>({ url: databaseUrl, max: 10 });
  await migrate(database.db, controlMigrations, { schema: controlSchema });
  const store = createStore(database.db, clock);
  const tenantId = await store.addTenant('burst');
  const key = makeApiKey();
  await store.addKey({ id: key.id, tenant_id: tenantId, hash: hashApiKey(key) });

  const gateway = new Gateway({ authorize: admitToAgent(store), clock, log });
  const allowGit = [gitFolder];
  const built = new Rollouts({
    store,
    dataDir,
    adminDatabaseUrl: databaseUrl,
    allowGit,
    gateway,
    compute: processCompute({ clock, drainMs: 1_000 }),
    clock,
    log,
    drainMs: 1_000,
    // It looks by itself for work at all deployments, and those of the other maker are none of its business.
    pollMs: 24 * 60 * 60_000,
  });
  await built.recover();
  const instant = instantBuilds(store, headOf);
  const real = new Set<string>();
  const makerOf = async (deploymentId: string) => {
    if (real.has(deploymentId)) return built;
    const deployment = await store.deployment(deploymentId);
    if (!deployment?.source_config.repo_url?.startsWith(gitFolder)) return instant;
    real.add(deploymentId);
    return built;
  };
  const inOrder = (act: (deploymentId: string) => Promise<void>) => (deploymentId: string) => {
    act(deploymentId).catch((error: unknown) => log.error(String(error)));
  };
  const rollouts = {
    wake: inOrder(async (deploymentId) => (await makerOf(deploymentId)).wake(deploymentId)),
    interrupted: (deploymentId: string, revisionId: string) => built.interrupted(deploymentId, revisionId),
  };

  let url = '';
  const serviceFor = (tenant: string): OurControlService =>
    createControlService({ store, rollouts, tenantId: tenant, baseUrl: () => url, allowGit });
  const app = createApp({ serviceFor, findKey: store.findKey, fieldNames: 'contract', log });
  const server = createHttpServer({ fetch: app.fetch, agents: gateway.handle, basePath: '' });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service listens at no port');
  url = `http://127.0.0.1:${address.port}`;

  return {
    url,
    apiKey: key.text,
    control: serviceFor(tenantId),
    async close() {
      await instant.settled();
      await built.stop(4_000);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      for (const id of real) {
        const deployment = await store.deployment(id);
        if (deployment) await dropAgentDatabase(databaseUrl, databaseOf(deployment));
      }
      await database.close();
    },
  };
}
