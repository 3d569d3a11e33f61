import { randomUUID } from 'node:crypto';
import { messageOf } from '../../kit/errors.ts';
import { retryWhileUnavailable } from '../../kit/postgres/unavailable.ts';
import { hasJavaScript } from '../../agent-folder/graph-config/language.ts';
import { defaultSettings } from './assistants/default-settings.ts';
import { readConfiguration } from './configuration.ts';
import { setAgentGlobals } from './graphs/javascript/agent-globals.ts';
import { loadAgentCode, type AgentCode } from './agent-code.ts';
import { listen } from './listen.ts';
import { StartupError } from './startup-error.ts';
import type { Fetch } from './protocols/internal-api.ts';
import { openStorage } from './storage/open.ts';
import { resolveWebhookSettings } from './webhooks/webhook-delivery.ts';
import {
  serve,
  type AgentServerOptions,
  type OpenStorage,
  type ResolvedOptions,
  type Route,
  type ServerInstance,
} from './server-instance.ts';
import type { RequestHandler } from './api/web-sockets.ts';

/** A running agent server. */
export interface AgentServerProcess {
  url: string;
  /** Absent where it listens on a Unix socket. */
  port: number | undefined;
  /** Handles a request without the network. */
  fetch: (request: Request) => Response | Promise<Response>;
  /** The routes, to compare them with the OpenAPI document; empty while idle. */
  routes(): Route[];
  /** Becomes idle: drains runs within the bound, releases the others, and closes the database, until `wake`. */
  rest(): Promise<void>;
  /**
   * Serves again as the given revision, which must have the same build and environment. Does nothing if it already
   * serves as that one.
   *
   * @throws Error if it serves as another revision, or shuts down.
   */
  wake(revisionId: string): Promise<void>;
  /** Ends the hold of a held revision: it takes part in all work from now on, or its unfinished runs are ended after it. */
  endHold(how: 'promote' | 'discard'): Promise<void>;
  /** Stops accepting connections, drains runs within the bound, releases the others to the next process, and closes. */
  close(): Promise<void>;
}

/** Loads the graphs of a revision and serves them. @throws StartupError for anything that is invalid. */
export async function startAgentServer(options: AgentServerOptions): Promise<AgentServerProcess> {
  const { configPath, host, port, socket, log, clock } = options;
  const configuration = readConfiguration(configPath, log, { python: options.python !== undefined });
  for (const [name, value] of Object.entries(configuration.env)) process.env[name] ??= value;
  const assistantDefaults = defaultSettings(process.env['LANGGRAPH_CONFIG']);
  const webhookSettings = resolveWebhookSettings(configuration, options.webhooks);
  const keepsNumbers = !hasJavaScript(configuration.file);
  const resolved = { ...options, configuration, webhookSettings, assistantDefaults, keepsNumbers };
  let servedAs = options.revisionId;
  let serving: ServerInstance | undefined;
  const fetchAsAgent: Fetch = (request) => serving?.fetchAsAgent(request) ?? idle();
  setAgentGlobals({ log, fetch: fetchAsAgent });
  const [opened, loaded] = await openAndLoad(resolved, fetchAsAgent);
  serving = await serve(loaded, opened, resolved);
  const fetch: RequestHandler = (request, upgrade) => serving?.fetch(request, upgrade) ?? idle();
  const listener = await listen(fetch, { host, port, socket, clock }).catch(async (error: unknown) => {
    await serving?.end();
    throw error;
  });
  serving.begin();
  const rest = async (): Promise<void> => {
    const former = serving;
    // `Runs` refuses requests until its current runs have ended.
    await former?.end();
    // They belong to the instance that has ended.
    await listener.closeWebSockets();
    if (serving === former) serving = undefined;
    await loaded.python?.rest();
  };
  const close = async (): Promise<void> => {
    listener.stopAccepting();
    await rest();
    await listener.close();
    await loaded.python?.close();
  };
  let closing: Promise<void> | undefined;
  return {
    url: listener.url,
    port: listener.port,
    fetch,
    routes: () => serving?.routes ?? [],
    rest,
    async wake(revisionId) {
      if (closing) throw new Error('The server is shutting down.');
      if (serving && revisionId === servedAs) return;
      if (serving) throw new Error('Already serving another revision. Stop it first.');
      serving = await serve(loaded, await open(resolved), { ...resolved, revisionId, holdUntil: undefined });
      servedAs = revisionId;
      serving.begin();
      loaded.python?.wake();
    },
    endHold: async (how) => serving?.endHold(how),
    close: () => (closing ??= close()),
  };
}

const idle = (): Response => Response.json({ detail: 'This revision is idle. Retry in a moment.' }, { status: 503 });

/** The service has just prepared the database, so one that is unavailable will return. */
async function open({ databaseUrl, log, clock, keepsNumbers }: ResolvedOptions): Promise<OpenStorage> {
  const processId = randomUUID();
  const opening = retryWhileUnavailable(() => openStorage(databaseUrl, processId, log, { keepsNumbers }), { clock });
  const storage = await opening.catch((error: unknown) => {
    // The system's message contains the database's address, which the agent's log must not show.
    const isOfSystem = error instanceof Error && 'syscall' in error && 'code' in error;
    const reason = isOfSystem ? String(error.code) : messageOf(error);
    throw new StartupError('database', [`The deployment's database can't be used: ${reason}`], { cause: error });
  });
  return { storage, processId };
}

/**
 * Opens the database and loads the code in parallel. Loading blocks this process, for many seconds on a busy machine,
 * so that a response of the database may time out, which counts as unavailable.
 */
async function openAndLoad(options: ResolvedOptions, fetch: Fetch): Promise<[OpenStorage, AgentCode]> {
  const loading = loadAgentCode(options.configuration, options.configPath, { ...options, fetch });
  const opening = open(options);
  const [opened, loaded] = await Promise.allSettled([opening, loading]);
  if (opened.status === 'fulfilled' && loaded.status === 'rejected') await opened.value.storage.close();
  const code = await loading;
  return [await opening, code];
}
