import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { retryWhileUnavailable } from '../postgres/retry-while-unavailable.ts';
import { readConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { loadAgentCode } from './agent-code.ts';
import type { AgentCode } from './agent-code.ts';
import { listen } from './listen.ts';
import { StartupError } from './startup-error.ts';
import { openStorage } from './storage/open.ts';
import type { TracingOptions } from './tracing/run-exporter.ts';
import { settledWebhooks } from './webhooks/delivering.ts';
import type { WebhookOptions } from './webhooks/delivering.ts';
import { serve } from './serving.ts';
import type { Opened, Serving } from './serving.ts';

/** How an agent server is started. */
export interface AgentServerOptions {
  /** Absolute path of the graph configuration file; graphs and their engine are loaded from its folder. */
  configPath: string;
  /** The deployment's database, with user and password: a secret. */
  databaseUrl: string;
  host: string;
  /** 0 takes any that is free. */
  port: number;
  /** The path of a Unix socket to listen on, in the place of host and port. */
  socket?: string | undefined;
  /** What every request must show in the header `x-landfall-agent-token`; without it everyone may ask. */
  token?: string | undefined;
  log: (line: string) => void;
  clock: Clock;
  /** How many runs may be carried out at once; 100 when absent. */
  atOnce?: number | undefined;
  /** How long (ms) a run may take; for ever when absent. */
  runLimitMs?: number | undefined;
  /** How long (ms) a process that says nothing counts as living; 30,000 when absent. */
  leaseMs?: number | undefined;
  /** How long (ms) `close` waits for runs; 30,000 when absent. */
  drainMs?: number | undefined;
  /** Where runs that ended are told; nobody is told when absent. */
  tracing?: TracingOptions | undefined;
  webhooks?: WebhookOptions | undefined;
  revisionId?: string | undefined;
  deploymentId?: string | undefined;
}

/** An endpoint: its method, and its path with a colon before what is not fixed. */
export interface Route {
  method: string;
  path: string;
}

/** An agent server that answers. */
export interface AgentServerProcess {
  url: string;
  /** Absent where it listens on a Unix socket. */
  port: number | undefined;
  /** Answers a request without the network. */
  fetch: (request: Request) => Response | Promise<Response>;
  /** What is served, for whoever compares it with the description; none while it rests. */
  routes(): Route[];
  /**
   * Lets runs end within the bound, leaves the others to the next process, and lets go of the database. What is loaded
   * stays loaded; requests are refused with a 503 until `wake`.
   */
  rest(): Promise<void>;
  /**
   * Serves again, as the given revision, which has to be of the same build and the same environment. One that serves as
   * it already is left as it is.
   *
   * @throws Error where it serves as another revision, or leaves.
   */
  wake(revisionId: string): Promise<void>;
  /** Takes no more connections, lets runs end within the bound, leaves the others to the next process, and closes. */
  close(): Promise<void>;
}

/**
 * Loads the graphs of a revision and serves them.
 *
 * @throws StartupError when the configuration, a graph, the engine, the database or the address is not as it must be.
 */
export async function startAgentServer(options: AgentServerOptions): Promise<AgentServerProcess> {
  const { configPath, host, port, socket, log, clock } = options;
  const configuration = readConfiguration(configPath, log);
  for (const [name, value] of Object.entries(configuration.env)) process.env[name] ??= value;
  const webhooks = settledWebhooks(configuration, options.webhooks);
  let servedAs = options.revisionId;
  const [opened, loaded] = await openAndLoad(options, configuration);
  let serving: Serving | undefined = await serve(loaded, opened, {
    ...options,
    configuration,
    webhookSettings: webhooks,
  });
  const fetch = (request: Request) => serving?.fetch(request) ?? idle();
  const listener = await listen(fetch, { host, port, socket, clock }).catch(async (error: unknown) => {
    await serving?.end();
    throw error;
  });
  serving.begin();
  const rest = async (): Promise<void> => {
    const former = serving;
    // Requests are refused by the runs themselves until those in hand have ended.
    await former?.end();
    if (serving === former) serving = undefined;
  };
  const close = async (): Promise<void> => {
    listener.stopAccepting();
    await rest();
    await listener.close();
  };
  let closing: Promise<void> | undefined;
  return {
    url: listener.url,
    port: listener.port,
    fetch,
    routes: () => serving?.routes ?? [],
    rest,
    async wake(revisionId) {
      if (closing) throw new Error('The server is leaving.');
      if (serving && revisionId === servedAs) return;
      if (serving) throw new Error('Already serving another revision. Stop it first.');
      const notified = { ...options, configuration, webhookSettings: webhooks, revisionId };
      serving = await serve(loaded, await open(notified), notified);
      servedAs = revisionId;
      serving.begin();
    },
    close: () => (closing ??= close()),
  };
}

const idle = (): Response =>
  Response.json({ detail: 'This revision does not serve at present. Ask again in a moment.' }, { status: 503 });

/** The database was there a moment ago, when the service made it ready: one that is away is on its way back. */
async function open({ databaseUrl, log, clock }: AgentServerOptions): Promise<Opened> {
  const processId = randomUUID();
  const opening = retryWhileUnavailable(() => openStorage(databaseUrl, processId, log), { clock });
  const storage = await opening.catch((error: unknown) => {
    // The words of the operating system name the place of the database, which is not for the log of the agent.
    const isOfSystem = error instanceof Error && 'syscall' in error && 'code' in error;
    const reason = isOfSystem ? String(error.code) : error instanceof Error ? error.message : String(error);
    throw new StartupError('database', [`The deployment's database can't be used: ${reason}`], { cause: error });
  });
  return { storage, processId };
}

/**
 * Both at once: loading the engine takes a second of which the database needs nothing. On a busy machine it takes many,
 * and keeps this process so busy that an answer of the database is heard too late, which counts as unavailable.
 */
async function openAndLoad(options: AgentServerOptions, configuration: Configuration): Promise<[Opened, AgentCode]> {
  const loading = loadAgentCode(configuration, options.configPath, options);
  const opening = open(options);
  const [opened, loaded] = await Promise.allSettled([opening, loading]);
  if (opened.status === 'fulfilled' && loaded.status === 'fulfilled') return [opened.value, loaded.value];
  if (opened.status === 'fulfilled') await opened.value.storage.close();
  throw loaded.status === 'rejected' ? loaded.reason : opened.status === 'rejected' ? opened.reason : undefined;
}
