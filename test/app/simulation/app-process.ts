import { noExaminer } from '../events/handler-fixture.ts';
import { Webhooks } from '@octokit/webhooks';
import { loggerTo } from '../../logger.ts';
import { handleEvent } from '../../../app/events/handle-event.ts';
import { startDeliveryWorker } from '../../../app/inbox/delivery-worker.ts';
import {
  openDeliveries,
  inboxMigrations,
  inboxMigrationTable,
  type InboxTables,
} from '../../../app/inbox/deliveries.ts';
import { storeDeliveries } from '../../../app/inbox/store-deliveries.ts';
import { listen } from '../../../app/server/http-server.ts';
import { verifySignature, webhookRoutes } from '../../../app/server/webhook-route.ts';
import { startReportWorker } from '../../../app/reporting/report-job.ts';
import { sharedReportLocks } from '../../../app/reporting/send-report.ts';
import { workMigrations, workMigrationTable, workSchema } from '../../../app/reconcile/migrations.ts';
import { PostgresStore } from '../../../app/reconcile/postgres-store.ts';
import { startReconcileWorkers } from '../../../app/create-app-work.ts';
import { isLater, type AppContext } from '../../../app/context.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { openDatabase } from '../../../src/kit/postgres/database.ts';
import { migrate } from '../../../src/kit/postgres/migrate.ts';
import { openQueue } from '../../../src/kit/postgres/queue.ts';
import { AgentModel } from '../../deploy/smoke/agent-model.ts';
import { hurriedClock, hurriedQueue } from './hurried.ts';
import { processFixture } from './process-fixture.ts';
import { ModelSmoke } from './model-smoke.ts';
import { remoteControl, remoteHub, remoteTested } from './remote-parties.ts';
import { branch, deploymentIds, termsOf } from './terms.ts';

const { databaseUrl, line, webhookSecret, faster, compares, promotes, dieAt } = processFixture.parse(
  JSON.parse(process.argv[2] ?? ''),
);
const log = loggerTo((message: string): void => console.error(message));
const [deploymentId, laterId] = deploymentIds;
const step = async (name: string): Promise<void> => {
  if (name !== dieAt) return;
  if (!promotes || (await context.store.openIntents(laterId)).length > 0) process.kill(process.pid, 'SIGKILL');
};

const { db, pool } = openDatabase<InboxTables>({ url: databaseUrl, max: 6 });
await migrate(db, inboxMigrations, { schema: workSchema, table: inboxMigrationTable });
await migrate(db, workMigrations, { schema: workSchema, table: workMigrationTable });
// The parent process ensures that no other process works on this database.
const queue = await openQueue({ url: databaseUrl, log, alone: true });
const clock = hurriedClock(faster);
const jobs = hurriedQueue(queue, faster);

const varying = { builder: 'app', onFailure: 'keep', afterRollback: 'continue', smokeTests: true } as const;
const target = (id: string) => ({
  deploymentId: id,
  repoRef: branch,
  terms: termsOf(id, { ...varying, compares, promotes }),
});
const context: AppContext = {
  clock,
  random: Math.random,
  store: new PostgresStore({ pool, queue: jobs, clock, timeBy: 'given' }),
  githubApi: remoteHub(line),
  control: remoteControl(line),
  agentAt: () => new AgentModel(clock),
  targets: {
    targetsOf: async () => ({
      targets: [target(deploymentId)],
      refused: [],
      later: promotes ? [target(laterId)].filter(isLater) : [],
    }),
  },
  smoke: new ModelSmoke(() => clock.now(), remoteTested(line)),
  log,
  step,
};

const server = await listen({
  host: '127.0.0.1',
  port: 0,
  clock: systemClock,
  log,
  routes: webhookRoutes({
    verify: verifySignature([new Webhooks({ secret: webhookSecret })]),
    store: storeDeliveries({ pool, queue, clock: systemClock }),
    clock: systemClock,
    log,
    onStored: () => step('stored'),
  }),
});
await startDeliveryWorker({
  queue,
  deliveries: openDeliveries(db, systemClock),
  handle: (event) => handleEvent(event, context, noExaminer),
  log,
  clock,
});
await startReportWorker(jobs, { ...context, reportLocks: sharedReportLocks(pool) });
await startReconcileWorkers({ queue: jobs, context, alone: true });
console.log(`listens at ${server.url}`);
