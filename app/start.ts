import type { Logger } from '../src/kit/logger.ts';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../src/kit/clock.ts';
import { type Database, openDatabase } from '../src/kit/postgres/database.ts';
import { migrate } from '../src/kit/postgres/migrate.ts';
import { openQueue, type Queue } from '../src/kit/postgres/queue.ts';
import { countJobs } from '../src/kit/postgres/queue-jobs.ts';
import { resolveDatabase } from '../src/kit/postgres/resolve-database.ts';
import { type DeliveryWorkerOptions, startDeliveryWorker } from './inbox/delivery-worker.ts';
import {
  type Deliveries,
  openDeliveries,
  appSchema,
  inboxMigrations,
  inboxMigrationTable,
  type InboxTables,
} from './inbox/deliveries.ts';
import { storeDeliveries } from './inbox/store-deliveries.ts';
import { type AppMetrics, createMetrics } from './operate/metrics.ts';
import { listen, type Route } from './server/http-server.ts';
import { verifySignature, webhookRoutes } from './server/webhook-route.ts';
import { systemRoutes } from './server/system-routes.ts';
import type { Settings } from './settings/read-settings.ts';
import type { AppContext } from './context.ts';
import { Webhooks } from '@octokit/webhooks';
import { Probot } from 'probot';
import { AppOctokit } from './github/installation-clients.ts';

export interface StartOptions {
  settings: Settings;
  clock: Clock;
  log: Logger;
  /** Builds the App's work from its resources. */
  createAppWork: (resources: AppResources) => Promise<AppWork>;
}

/** The App, running. */
export interface RunningApp {
  /** Where it listens, without a slash at the end. */
  url: string;
  resources: AppResources;
  context: AppContext;
  /** Whether the database is the App's own. */
  embedded: boolean;
  /** Takes no more webhooks, finishes what is under way, and ends everything: within some 8 s. */
  close(): Promise<void>;
}

/** How long requests and jobs under way may take when everything ends (ms): the rest of 10 s is for the database. */
const requestsEndWithin = 4_000;
const jobsEndWithin = 5_000;

/**
 * Starts the App: database, queue, its work, and the server that takes webhooks.
 *
 * @throws Error with advice when the port is taken, the data folder is in use, or the database can't be used.
 */
export async function startApp({ settings, clock, log, createAppWork }: StartOptions): Promise<RunningApp> {
  const opened: (() => Promise<unknown>)[] = [];
  const leaving = new AbortController();
  const end = async (): Promise<void> => {
    leaving.abort();
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    const source = await openSource(settings, log);
    opened.push(() => source.close());
    const { url: databaseUrl, embedded } = source;
    const open = (max: number, applicationName: string) => {
      const database = openDatabase<InboxTables>({ url: databaseUrl, max, applicationName, log });
      opened.push(() => database.close());
      return database;
    };
    const database = open(10, 'landfall-app');
    const intake = open(3, 'landfall-app-intake');
    await migrate(database.db, inboxMigrations, { schema: appSchema, table: inboxMigrationTable });
    const queue = await openQueue({ url: databaseUrl, alone: embedded, log, clock });
    opened.push(() => queue.stop({ timeoutMs: jobsEndWithin }));

    const deliveries = openDeliveries(database.db, clock);
    const metrics = createMetrics();
    const probot = createProbot(settings.github);
    const [, ...formerSecrets] = settings.github.webhookSecrets;
    await probot.ready();
    const resources: AppResources = {
      settings,
      clock,
      log,
      database: { ...database, url: databaseUrl },
      queue,
      probot,
      deliveries,
      metrics,
      alone: embedded,
      leaving: leaving.signal,
    };
    const work = await createAppWork(resources);
    // Jobs end before what they work with.
    opened.splice(-1, 0, () => work.close());
    metrics.setSource({ jobs: () => countJobs(database.pool), queues: work.busySince, now: () => clock.now() });

    const server = await listen({
      host: settings.host,
      port: settings.port,
      clock,
      log,
      routes: [
        ...webhookRoutes({
          // Probot's own server is not used: ours stores each delivery that Probot has verified, and its job handles
          // it.
          verify: verifySignature([probot.webhooks, ...formerSecrets.map((secret) => new Webhooks({ secret }))]),
          store: storeDeliveries({ pool: intake.pool, queue, clock }),
          clock,
          log,
          count: (event, result) => metrics.countWebhook(event, result),
          onStored: () => work.context.step?.('stored'),
          onUnstored: () => work.onDatabaseAway(),
        }),
        ...systemRoutes({
          // Not ready: a load balancer stops sending webhooks here.
          probeDatabase: () =>
            intake.pool.query('select 1').catch((error: unknown) => {
              work.onDatabaseAway();
              throw error;
            }),
          isDraining: () => server.draining,
          metrics,
          clock,
        }),
        ...work.routes,
      ],
    });
    const stopJobs = opened.pop();
    opened.push(() => Promise.all([server.drain(requestsEndWithin), stopJobs?.()]));
    await startDeliveryWorker({
      queue,
      deliveries,
      handle: work.handle,
      hasSlowFiles: work.hasSlowFiles,
      log,
      clock,
      count: (event, result) => metrics.countDelivery(event, result),
    });
    await work.begin();
    return { url: server.url, resources, context: work.context, embedded, close: end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function openSource({ databaseUrl, dataDir }: Settings, log: Logger) {
  const folder = resolve(dataDir);
  // The embedded server may run as another user, which has to traverse the folder but must not list it.
  if (databaseUrl === undefined) mkdirSync(folder, { recursive: true, mode: 0o711 });
  return resolveDatabase({ databaseUrl, dataDir: join(folder, 'postgres'), log });
}

/** What the App's work is built on. */
export interface AppResources {
  settings: Settings;
  clock: Clock;
  log: Logger;
  /** The App's database; its tables are in the schema `app`. */
  database: Database<InboxTables> & {
    /** With user and password: a secret. */
    url: string;
  };
  queue: Queue;
  probot: Probot;
  deliveries: Deliveries;
  metrics: AppMetrics;
  /** The database is this process's alone. */
  alone: boolean;
  /** Aborts on shutdown: work stops at its next step. */
  leaving: AbortSignal;
}

/** The App's work: what is done about deliveries once they are stored. */
export interface AppWork {
  context: AppContext;
  /** Handles a stored delivery. */
  handle: DeliveryWorkerOptions['handle'];
  /** Routes besides webhooks and those for the operator. */
  routes: readonly Route[];
  /** When (ms since the epoch) the oldest open intent of each busy deployment queue was created. */
  busySince: () => Promise<readonly number[]>;
  /** Whether reading these files of an installation has taken long within this hour. */
  hasSlowFiles: NonNullable<DeliveryWorkerOptions['hasSlowFiles']>;
  /** Starts what works on jobs, until the queue stops. */
  begin(): Promise<void>;
  /** Called when the database was unavailable, to search for missed work afterwards. */
  onDatabaseAway(): void;
  /** Called when the queue has stopped. */
  close(): Promise<void>;
}

/** A Probot without a server: it verifies webhooks, and has an Octokit for each installation. It logs nothing. */
const createProbot = ({ appId, privateKey, webhookSecrets: [secret], apiUrl }: Settings['github']): Probot =>
  new Probot({ appId, privateKey, secret, baseUrl: apiUrl, logLevel: 'fatal', Octokit: AppOctokit });
