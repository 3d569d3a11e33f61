import { connectControlService } from '../src/client/control.ts';
import { openDatabase } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { connectAgents } from './agents.ts';
import { threadReader } from './files/thread-reader.ts';
import { changedPaths } from './github/changed-paths.ts';
import { createHub } from './github/create-hub.ts';
import { createDeliveryDesk } from './github/deliveries.ts';
import { createRepositoryDesk } from './github/installations.ts';
import { octokitsOf } from './github/octokit.ts';
import { clientsFor } from './github/sending.ts';
import type { Ground, Work } from './ground.ts';
import { registerHandlers } from './handlers/register.ts';
import { countingOctokits } from './operate/counting-octokit.ts';
import { CountedStore } from './operate/work-tally.ts';
import { actingRule } from './pull-requests/acting-rule.ts';
import { createPullRequestDesk } from './pull-requests/examine.ts';
import { startRecovery } from './recovery/recovery-job.ts';
import { runRoute } from './server/run-route.ts';
import { createReceiver } from './smoke/receive-run.ts';
import { createSmokeDesk } from './smoke/smoke-desk.ts';
import { createTargetDesk } from './targets/create-target-desk.ts';
import { createOwnership } from './targets/ownership.ts';
import { webHostOf } from './targets/web-host.ts';
import { giveReportJobs } from './tell/give-report-jobs.ts';
import { startReportWorker } from './tell/report-job.ts';
import { sharedReportLocks } from './tell/report-locks.ts';
import { workMigrations, workMigrationTable, workSchema } from './work/migrations.ts';
import { workOnLanes } from './work/workers.ts';
import type { World } from './world.ts';

/** How a service sees who asks. */
const userAgent = 'landfall-app';

/** Reports that are told at the same time, each of which holds a connection for its lock. */
const reportsAtOnce = 4;

/** Builds the App's work on its ground: GitHub, the control service, agents, and the store, put together. */
export async function makeWork(ground: Ground): Promise<Work> {
  const { settings, clock, log, database, queue, probot, deliveries, metrics, alone, leaving } = ground;
  const { service, github, bindings, builder, publicUrl, allowHttp } = settings;
  const random = Math.random;
  await migrate(database.db, workMigrations, { schema: workSchema, table: workMigrationTable });
  const store = new CountedStore({ pool: database.pool, queue, clock }, metrics);

  const credentials = { apiKey: service.apiKey, tenantId: service.tenantId, allowHttp, userAgent };
  const control = connectControlService({ ...credentials, baseUrl: service.baseUrl, spelling: service.spelling });
  const agents = connectAgents(credentials);
  const clientOf = clientsFor({ octokitFor: countingOctokits(octokitsOf(probot), metrics), clock, random, log });
  const hub = createHub(clientOf);
  // What a fork writes keeps no push waiting.
  const [pushedFiles, examinedFiles] = [threadReader({ clock, log }), threadReader({ clock, log })];
  const world: World = {
    clock,
    random,
    store,
    hub,
    control,
    agentAt: agents.at,
    targets: createTargetDesk({
      hub,
      control,
      clock,
      bindings,
      webHost: webHostOf(github.apiUrl),
      builder,
      log,
      files: pushedFiles,
    }),
    smoke: createSmokeDesk({ clock, random, control, publicUrl, log }),
    log,
    decided: ground.decided,
  };
  const pullRequests = createPullRequestDesk({
    world,
    files: examinedFiles,
    changedPaths: (pull) => changedPaths(clientOf(pull.repository.installationId), pull),
    actingRule: actingRule(createOwnership(webHostOf(github.apiUrl), bindings), control),
  });
  const locks = openDatabase({
    url: database.url,
    max: reportsAtOnce,
    applicationName: 'landfall-app-reports',
    log,
  });

  let lookAfterOutage = (): void => undefined;
  return {
    world,
    register: (app) => registerHandlers(app, world, { pullRequests }),
    routes: [runRoute(createReceiver({ store, clock, log }), clock)],
    lanesSince: () => oldestOfLanes(ground),
    begin: async () => {
      const telling = { ...world, reportLocks: sharedReportLocks(locks.pool) };
      await startReportWorker(queue, telling, { concurrency: reportsAtOnce });
      await workOnLanes({ queue, world, alone, signal: leaving });
      const desks = {
        deliveries: createDeliveryDesk(clientOf(undefined)),
        inbox: deliveries,
        repositories: createRepositoryDesk(clientOf, log),
        tellReports: (ids: readonly string[]) => giveReportJobs(ids, { pool: database.pool, queue }),
        bound: bindings,
      };
      lookAfterOutage = await startRecovery(queue, world, desks, leaving);
    },
    onDatabaseAway: () => lookAfterOutage(),
    close: async () => {
      await Promise.all([control.close(), agents.close(), locks.close(), pushedFiles.close(), examinedFiles.close()]);
    },
  };
}

/** Since when (ms since the epoch) the oldest open intent of each busy lane is open. */
async function oldestOfLanes({ database }: Ground): Promise<number[]> {
  const { rows } = await database.pool.query<{ since: number }>(
    `select min((body ->> 'createdAt')::double precision) as since from app.intents
     where state <> 'ended' group by deployment_id`,
  );
  return rows.map(({ since }) => since);
}
