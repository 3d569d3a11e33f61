import { sql } from 'kysely';
import { createApp, internalFetch } from './api/app.ts';
import type { DefaultSettings } from './assistants/default-settings.ts';
import { assistantStore } from './assistants/store.ts';
import type { Configuration } from './configuration.ts';
import { cronScheduler } from './crons/cron-scheduler.ts';
import { cronStore } from './crons/store.ts';
import type { AgentCode } from './agent-code.ts';
import { createMetadataFinder } from './auth/find-metadata.ts';
import { createRunAuthorizer } from './auth/run-authorizer.ts';
import { Graphs } from './graphs/graphs.ts';
import { runQueue } from './runs/queue.ts';
import { Metrics } from './metrics/metrics.ts';
import type { Fetch } from './protocols/internal-api.ts';
import { tasksIn } from './protocols/a2a/find-task.ts';
import { threadEventStore } from './protocols/thread-stream/store.ts';
import { ThreadEventStreams } from './protocols/thread-stream/thread-event-streams.ts';
import { Hold } from './runs/hold.ts';
import { recoveryOf } from './runs/recovery.ts';
import { RunEvents } from './runs/run-events.ts';
import { Runs } from './runs/runs.ts';
import { RunStore } from './runs/store.ts';
import { storeOf } from './store/deployment-store.ts';
import type { Storage } from './storage/open.ts';
import { lifetimesOf, expiryCondition, liveThreadCondition } from './threads/lifetime.ts';
import { createThreadComponents as openTheThreads } from './threads/thread-components.ts';
import { threadStore } from './threads/store.ts';
import { runExporter, type TracingOptions } from './tracing/run-exporter.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Logger } from '../../kit/logger.ts';
import { hiddenValues } from './tracing/step-recorder.ts';
import { serverInfo } from './version.ts';
import { Deliveries } from './webhooks/deliveries.ts';
import { deliverWebhooks, type WebhookOptions } from './webhooks/webhook-delivery.ts';
import type { WebhookSettings } from './webhooks/settings.ts';
import { checkWebhooks } from './webhooks/parse-target.ts';
import type { RequestHandler } from './api/web-sockets.ts';

/** How long (ms) the shutdown may take to export and notify; the next process continues with the rest. */
const flushWithinMs = 1_000;

/** The options of an agent server. */
export interface AgentServerOptions {
  /** Absolute path of the graph configuration file; graphs and their engine are loaded from its folder. */
  configPath: string;
  /** The deployment's database, with user and password: a secret. */
  databaseUrl: string;
  host: string;
  /** 0 for any free port. */
  port: number;
  /** The path of a Unix socket to listen on instead of host and port. */
  socket?: string | undefined;
  /** The token that every request must have in the header `x-landfall-agent-token`; open to everyone if absent. */
  token?: string | undefined;
  /** The Python interpreter of the agent's environment. */
  python?: string | undefined;
  log: Logger;
  clock: Clock;
  /** The number of concurrent runs; 100 by default. */
  atOnce?: number | undefined;
  /** The time limit (ms) of a run; absent for none. */
  runLimitMs?: number | undefined;
  /** Whether a run that names a node which its graph lacks is refused; accepted with a warning by default. */
  unknownNodes?: 'accept' | 'refuse' | undefined;
  /** The lease (ms) of a process; 30,000 by default. */
  leaseMs?: number | undefined;
  /** How long (ms) `close` waits for runs; 30,000 when absent. */
  drainMs?: number | undefined;
  /** Where ended runs are exported; absent for none. */
  tracing?: TracingOptions | undefined;
  webhooks?: WebhookOptions | undefined;
  revisionId?: string | undefined;
  /** The latest end of the revision's hold; absent where it is not held. While held it executes only its own runs. */
  holdUntil?: Date | undefined;
  deploymentId?: string | undefined;
}

/** An endpoint: its method, and its path with `:` before parameters. */
export interface Route {
  method: string;
  path: string;
}

/** A serving instance, until it ends. */
export interface ServerInstance {
  fetch: RequestHandler;
  /** Handles a request of the agent's own code. */
  fetchAsAgent: Fetch;
  routes: Route[];
  /** Starts to poll for orphaned runs and due work; a held revision for its own runs only. */
  begin(): void;
  /** Ends the hold of the revision: for traffic and all work, or for good. */
  endHold(how: 'promote' | 'discard'): Promise<void>;
  end(): Promise<void>;
}

export interface ResolvedOptions extends AgentServerOptions {
  configuration: Configuration;
  webhookSettings: WebhookSettings;
  /** Of `LANGGRAPH_CONFIG`. */
  assistantDefaults: DefaultSettings;
  /** Whether numbers are passed on as they were written: `1.0`, and integers of any size. */
  keepsNumbers: boolean;
}

/** The open database, and this process's id in it. */
export interface OpenStorage {
  storage: Storage;
  processId: string;
}

/** Creates all components; closes the storage on failure. */
export const serve = (loaded: AgentCode, opened: OpenStorage, options: ResolvedOptions): Promise<ServerInstance> =>
  putTogether(loaded, opened, options).catch(async (error: unknown) => {
    await opened.storage.close();
    throw error;
  });

async function putTogether(
  loaded: AgentCode,
  { storage, processId }: OpenStorage,
  options: ResolvedOptions,
): Promise<ServerInstance> {
  const { configuration, clock, log, token, tracing, webhookSettings: settings, revisionId = null } = options;
  const { atOnce = 100, runLimitMs: limitMs, leaseMs, webhooks, unknownNodes = 'accept' } = options;
  const store = await storeOf({ configuration, embeddings: loaded.embeddings, storage, clock, log });
  const graphs = new Graphs(loaded.graphs, storage.pool, store.forGraphs, loaded.types);
  const assistants = assistantStore(storage, clock, options.assistantDefaults);
  await assistants.ensureDefaults(graphs.list());
  const lifetime = configuration.file.checkpointer?.ttl;
  const isOver = expiryCondition(lifetimesOf(lifetime).ofAll);
  const threads = threadStore(storage, clock, isOver);
  const hold = new Hold(storage, revisionId, options.holdUntil);
  await hold.begin();
  const runStore = new RunStore(storage, processId, clock, tracing && { revisionId }, isOver, hold);
  const checkWebhook = checkWebhooks(settings, log);
  const queue = runQueue(storage, processId, clock, hold);
  const events = new RunEvents(storage, processId, clock);
  const traced = tracing && hiddenValues(process.env);
  const runParts = { store: runStore, queue, events, graphs, clock, log };
  const threadIsThere = liveThreadCondition(isOver, clock);
  const find = createMetadataFinder(storage, assistants, threads, threadIsThere);
  const access = loaded.auth && createRunAuthorizer(loaded.auth, find);
  const runs = new Runs({
    ...runParts,
    assistants,
    threads,
    atOnce,
    limitMs,
    checkWebhook,
    unknownNodes,
    access,
    traced,
  });
  const threadEvents = threadEventStore(storage, processId);
  const threadEventStreams = new ThreadEventStreams({ store: threadEvents, clock, log });
  events.onWritten = (runId, stored) => {
    const plan = runs.executor.find(runId)?.plan;
    if (plan?.kwargs.thread_stream) threadEventStreams.deliver(plan.threadId, runId, stored);
  };
  const onGone = (threadId: string) => threadEventStreams.close(threadId);
  const openThreads = await openTheThreads({ storage, threads, graphs, runs, lifetime, clock, log, onGone });
  const crons = cronStore(storage, threadIsThere);
  const deliveries = new Deliveries(storage);
  const around = {
    http: configuration.file.http ?? {},
    authConfig: configuration.file.auth,
    auth: loaded.auth,
    app: loaded.app,
    find,
    findItem: async (namespace: readonly string[], key: string) =>
      (await store.items.get(namespace, key, false))?.value,
  };
  const app = createApp({
    store,
    assistants,
    ...openThreads,
    runStore,
    runs,
    crons,
    deliveries,
    graphs,
    ui: loaded.ui,
    info: serverInfo(options, !settings.disabled, loaded.python?.engine),
    checkDatabase: async () => void (await sql`select 1`.execute(storage.db)),
    metrics: new Metrics({ storage, runs, atOnce, clock }),
    findTask: tasksIn(storage),
    threadEvents: { store: threadEvents, streams: threadEventStreams },
    clock,
    log,
    token,
    keepsNumbers: options.keepsNumbers,
    around,
  });
  const fetch = belowPrefix((request, upgrade) => app.fetch(request, { upgrade }), around.http.mount_prefix);
  const firing = cronScheduler({ store: crons, runs, access, clock, log });
  const recovery = recoveryOf({ ...runParts, runs, leaseMs });
  const delivering = deliverWebhooks({ deliveries, runStore, settings, options: webhooks, fetch, token, clock, log });
  const exporter = tracing && runExporter({ ...tracing, storage, clock, log });
  /** Takes part in the work that all processes of the deployment share, beside runs. */
  const beginSharedWork = () => {
    for (const each of [store.sweep, openThreads.sweep, firing, exporter, delivering]) each?.begin();
  };
  return {
    fetch,
    fetchAsAgent: internalFetch(app, token),
    routes: app.routes.map(({ method, path }) => ({ method, path })),
    begin() {
      recovery.begin();
      if (!hold.isHeld) beginSharedWork();
    },
    async endHold(how) {
      if (!hold.isHeld) return;
      await hold[how]();
      if (how === 'promote') beginSharedWork();
    },
    async end() {
      await firing.end();
      await runs.drain(options.drainMs ?? 30_000);
      await threadEventStreams.closeAll();
      const recovered = recovery.end();
      await store.sweep.end();
      await openThreads.streams.closeAll();
      await openThreads.sweep.end();
      await recovered;
      await exporter?.end(flushWithinMs);
      await delivering.end(flushWithinMs);
      await storage.close();
    },
  };
}

/** Serves the routes below a prefix (`/api`) and also without it: the supervisor does not know the prefix. */
function belowPrefix(handle: RequestHandler, prefix: string | undefined): RequestHandler {
  const bare = prefix?.replace(/\/$/, '');
  if (bare === undefined || bare === '') return handle;
  return (request, upgrade) => {
    const url = new URL(request.url);
    if (url.pathname !== bare && !url.pathname.startsWith(`${bare}/`)) return handle(request, upgrade);
    url.pathname = url.pathname.slice(bare.length);
    return handle(new Request(url, request), upgrade);
  };
}
