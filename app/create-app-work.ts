import { connectControlService } from '../src/client/control.ts';
import { connectControlRecords } from '../src/client/records.ts';
import { openDatabase } from '../src/kit/postgres/database.ts';
import { migrate } from '../src/kit/postgres/migrate.ts';
import { createProcessReader } from './worker/file-readers.ts';
import { createReadingBudget, type ReadingBudget } from './worker/reading-budget.ts';
import { createProcessJudge } from './worker/process-judge.ts';
import { openReadings } from './inbox/readings.ts';
import { changedPaths, createRepositoryClient, createGitHubApi } from './github/github-client.ts';
import { createDeliveryClient } from './github/deliveries.ts';
import { type ClientOf, createInstallationClients } from './github/installation-clients.ts';
import { octokitsOf } from './github/probot-octokits.ts';
import type { AppResources, AppWork } from './start.ts';
import { handleEvent } from './events/handle-event.ts';
import { CountedStore, countingOctokits } from './operate/metrics.ts';
import { createAccessPolicy, createPullRequestExaminer } from './pull-requests/examine.ts';
import { recoverSoon, startRecovery } from './recovery/recovery-job.ts';
import { runRoute } from './server/run-route.ts';
import { connectWithSecrets } from './verify/grading.ts';
import { createReceiver } from './verify/receive-run.ts';
import { createSmokeTestRunner } from './verify/smoke-test-runner.ts';
import { createTargetResolver } from './targets/target-resolver.ts';
import { createOwnership, webHostOf } from './targets/ownership.ts';
import { giveReportJobs, reportsAtOnce, startReportWorker } from './reporting/report-job.ts';
import { sharedReportLocks } from './reporting/send-report.ts';
import { workMigrations, workMigrationTable, workSchema } from './reconcile/migrations.ts';
import type { AppContext } from './context.ts';
import { previewMigrations, previewMigrationTable } from './previews/migrations.ts';
import { PostgresPreviews } from './previews/postgres-previews.ts';
import type { PreviewContext } from './previews/preview-context.ts';
import { previewsAtOnce, startPreviewWorkers } from './previews/work-on-preview.ts';
import { createInstalled } from './previews/installed.ts';
import { startSweeping } from './previews/sweep.ts';
import { previewSecretOf } from './settings/preview-secrets.ts';
import { createSharedDeployFile } from './targets/deploy-file-reader.ts';
import { type AgentServerClient, type AgentServerSettings, connectAgentServer } from '../src/client/agent.ts';
import type { AgentServer, ConversationServer } from '../src/contract/agent/service.ts';
import type { Queue } from '../src/kit/postgres/queue.ts';
import { addressOf } from '../src/kit/base-address.ts';
import { repositoryIdOn } from '../src/deploy/rules/preview.ts';
import { reconcileDeployment } from './reconcile/reconcile-deployment.ts';
import { reconcileJob } from './reconcile/postgres-queues.ts';

/** The client's name for services. */
const userAgent = 'landfall-app';

/** Builds the App's work from GitHub, the control service, agents, and the store. */
export async function createAppWork(resources: AppResources): Promise<AppWork> {
  const { settings, clock, log, database, queue, probot, deliveries, metrics, alone, leaving } = resources;
  const { service, github, bindings, builder, publicUrl, allowHttp, graderUrls } = settings;
  const random = Math.random;
  const webHost = webHostOf(github.apiUrl);
  await migrate(database.db, workMigrations, { schema: workSchema, table: workMigrationTable });
  await migrate(database.db, previewMigrations, { schema: workSchema, table: previewMigrationTable });
  const store = new CountedStore({ pool: database.pool, queue, clock }, metrics);

  const credentials = { apiKey: service.apiKey, tenantId: service.tenantId, allowHttp, userAgent };
  const control = connectControlService({
    ...credentials,
    baseUrl: service.baseUrl,
    spelling: service.spelling,
    // Use the same clock for deadlines of calls: two clocks differ once the system time is set.
    clock,
  });
  const records = connectControlRecords({ ...credentials, baseUrl: service.baseUrl, clock });
  const serviceAddress = addressOf(service.baseUrl);
  const agents = connectAgents({ ...credentials, clock });
  const clientOf = createInstallationClients({
    octokitFor: countingOctokits(octokitsOf(probot, clock), metrics),
    clock,
    random,
    log,
  });
  const githubApi = createGitHubApi(clientOf);
  // What a fork writes keeps no push waiting, and is tried once. A process that ends while it reads a pushed file may
  // have had other reasons, once.
  const budgets = { pushes: createReadingBudget(clock), pullRequests: createReadingBudget(clock) };
  const openReader = (reader: string, options: { attempts: number; maxInterruptions: number; budget: ReadingBudget }) =>
    createProcessReader({
      clock,
      log,
      ...options,
      readings: openReadings(database.db, { clock, reader, alone, maxInterruptions: options.maxInterruptions }),
    });
  const pushedFiles = openReader('push', { attempts: 2, maxInterruptions: 1, budget: budgets.pushes });
  const examinedFiles = openReader('pull-request', { attempts: 1, maxInterruptions: 0, budget: budgets.pullRequests });
  const judge = createProcessJudge({ clock, log });
  const previews = new PostgresPreviews({ pool: database.pool, queue, clock });
  const forStrangers: ClientOf = (installationId) => clientOf(installationId, 'strangers');
  const previewFile = createSharedDeployFile({
    githubApi: createGitHubApi(forStrangers),
    clock,
    files: examinedFiles,
  });
  const context: AppContext = {
    clock,
    random,
    store,
    githubApi,
    control,
    records,
    serviceAddress,
    agentAt: agents.at,
    targets: createTargetResolver({ githubApi, control, clock, bindings, webHost, builder, log, files: pushedFiles }),
    smoke: createSmokeTestRunner({
      clock,
      random,
      control,
      publicUrl,
      graderUrls,
      threadsAt: agents.at,
      judge,
      log,
    }),
    log,
    previews,
    previewFile,
    recoverSoon: () => recoverSoon(queue, clock),
  };
  const pullRequests = createPullRequestExaminer({
    context: { ...context, githubApi: createGitHubApi(forStrangers) },
    files: examinedFiles,
    changedPaths: (pull) => changedPaths(forStrangers(pull.repository.installationId), pull),
    accessPolicy: createAccessPolicy(createOwnership(webHost, bindings), control),
  });
  const locks = openDatabase({ url: database.url, max: reportsAtOnce, applicationName: 'landfall-app-reports', log });
  const previewLocks = openDatabase({
    url: database.url,
    max: previewsAtOnce,
    applicationName: 'landfall-app-previews',
    log,
  });
  const repositories = createRepositoryClient(clientOf, log);
  const previewing: PreviewContext = {
    clock,
    random,
    previews,
    githubApi: createGitHubApi(forStrangers),
    control,
    serviceAddress,
    agentAt: agents.at,
    threadsAt: agents.at,
    judge,
    gradersOf: ({ desired }) => connectWithSecrets(desired.secrets ?? [], { clock, random, graderUrls }),
    deployFile: previewFile,
    secretOf: (repository, variable) => previewSecretOf(settings.previewSecrets, repository, variable),
    hostedIdOf: (repositoryId) => repositoryIdOn(`https://${webHost}`, repositoryId),
    installed: createInstalled(repositories, clock),
    refusalOf: (repository, deployment) => createOwnership(webHost, bindings).refusal(repository, deployment),
    locks: sharedReportLocks(previewLocks.pool),
    log,
    leaving,
    credentials: [service.apiKey],
  };

  let recoverAfterOutage = (): void => undefined;
  return {
    context,
    handle: (event) => handleEvent(event, context, pullRequests),
    routes: [runRoute(createReceiver({ store, clock, log }), clock)],
    busySince: () => store.busySince(),
    hasSlowFiles: (installationId, which) => budgets[which].isSlow(installationId),
    begin: async () => {
      const reporting = { ...context, reportLocks: sharedReportLocks(locks.pool) };
      await startReportWorker(queue, reporting);
      await startReconcileWorkers({ queue, context, alone, signal: leaving });
      await startPreviewWorkers(queue, previewing);
      await startSweeping(queue, previewing);
      const services = {
        deliveries: createDeliveryClient(clientOf(undefined)),
        inbox: deliveries,
        repositories,
        enqueueReports: (ids: readonly string[]) => giveReportJobs(ids, { pool: database.pool, queue, store }),
        bound: bindings,
      };
      recoverAfterOutage = await startRecovery(queue, context, services, leaving);
    },
    onDatabaseAway: () => recoverAfterOutage(),
    close: async () => {
      const closing = [control, records, agents, locks, previewLocks, pushedFiles, examinedFiles, judge];
      await Promise.all(closing.map((each) => each.close()));
    },
  };
}

/** The most values in a response or an event of an agent: parsing more holds the App's event loop. */
const maxJsonValues = 30_000;

/** The limit of open connections. */
const maxKept = 500;

/** How long an agent may be silent (ms): a smoke test's own time bounds it before. */
const idleMs = 15 * 60_000;

/** Connects to agents on first use, and drops the least recently used connection above the limit. */
export function connectAgents(settings: Omit<AgentServerSettings, 'url'>) {
  const kept = new Map<string, AgentServerClient>();
  return {
    at: (url: string): AgentServer & ConversationServer => {
      const agent = kept.get(url) ?? connectAgentServer({ idleMs, maxJsonValues, ...settings, url });
      kept.delete(url);
      kept.set(url, agent);
      const [oldest] = kept;
      if (kept.size > maxKept && oldest !== undefined) {
        kept.delete(oldest[0]);
        void oldest[1].close();
      }
      return agent;
    },
    close: async (): Promise<void> => {
      await Promise.all([...kept.values()].map((agent) => agent.close()));
    },
  };
}

interface ReconcileWorkers {
  queue: Pick<Queue, 'define' | 'work'>;
  context: AppContext;
  /** No other process uses this database: leases of dead processes are freed at once. */
  alone: boolean;
  /** Stops every pass at its next step, before the queue itself stops. */
  signal?: AbortSignal;
}

/** Deployments reconciled at the same time in this process. */
const concurrency = 8;

/** Starts reconciling until the queue stops, first what the last process left open. */
export async function startReconcileWorkers({ queue, context, alone, signal }: ReconcileWorkers): Promise<void> {
  await queue.define(reconcileJob, { heartbeatSeconds: 20 });
  if (alone) await context.store.freeLeases();
  for (const deploymentId of await context.store.busyDeployments()) await context.store.wake(deploymentId);
  await queue.work<{ deploymentId: string }>(reconcileJob, { concurrency, pollSeconds: 1 }, (job) =>
    reconcileDeployment(job.data.deploymentId, context, signal ? AbortSignal.any([signal, job.signal]) : job.signal),
  );
}
