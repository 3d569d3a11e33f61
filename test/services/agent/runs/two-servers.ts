import { loggerTo } from '../../../logger.ts';
import { startAgentServer } from '../../../../src/services/agent/server.ts';
import type { AgentServerProcess } from '../../../../src/services/agent/server.ts';
import type { AgentServerOptions } from '../../../../src/services/agent/server-instance.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { agentConfig, hurriedClock } from '../serving.ts';

/** Several servers of one deployment, on one database. */
export interface Servers {
  databaseUrl: string;
  /** All log lines of all servers. */
  lines: string[];
  start(options?: Partial<AgentServerOptions>): Promise<AgentServerProcess>;
  /** Closes all servers, and removes the database. */
  close(): Promise<void>;
}

/** Creates a database for servers that share it. */
export async function sharedDatabase(): Promise<Servers> {
  const postgres = await startTestPostgres();
  const started: AgentServerProcess[] = [];
  const lines: string[] = [];
  return {
    databaseUrl: postgres.url,
    lines,
    async start(options = {}) {
      const server = await startAgentServer({
        configPath: agentConfig,
        databaseUrl: postgres.url,
        host: '127.0.0.1',
        port: 0,
        clock: hurriedClock,
        log: loggerTo((line) => lines.push(line)),
        drainMs: 0,
        ...options,
      });
      started.push(server);
      return server;
    },
    async close() {
      await Promise.all(started.map((server) => server.close()));
      await postgres.stop();
    },
  };
}

/** Sends requests to a server, and reads its responses. */
export interface Asking {
  post: (path: string, body?: unknown) => Promise<Response>;
  get: (path: string, headers?: Record<string, string>) => Promise<Response>;
  remove: (path: string) => Promise<Response>;
  /** The JSON of a response. */
  json: (answer: Promise<Response>) => Promise<Record<string, unknown>>;
  /** Creates a thread. @returns its id */
  thread: () => Promise<string>;
  /** Starts a background run. @returns its location */
  run: (threadId: string, body: object) => Promise<string>;
  /** The run's status. */
  status: (place: string) => Promise<unknown>;
}

/** Sends requests to a server in process. */
export function asking({ fetch }: Pick<AgentServerProcess, 'fetch'>): Asking {
  const send = async (path: string, init: RequestInit) => fetch(new Request(`http://agent.test${path}`, init));
  const json = async (answer: Promise<Response>): Promise<Record<string, unknown>> =>
    Object(await (await answer).json());
  const post = (path: string, body: unknown = {}) => send(path, { method: 'POST', body: JSON.stringify(body) });
  const get = (path: string, headers: Record<string, string> = {}) => send(path, { headers });
  return {
    post,
    get,
    remove: (path) => send(path, { method: 'DELETE' }),
    json,
    thread: async () => String((await json(post('/threads')))['thread_id']),
    run: async (threadId, body) => {
      const { run_id } = await json(post(`/threads/${threadId}/runs`, body));
      return `/threads/${threadId}/runs/${String(run_id)}`;
    },
    status: async (place) => (await json(get(place)))['status'],
  };
}

/** The events of a stream, with their ids if present. */
export async function eventsOf(answer: Promise<Response>): Promise<{ event: string; data: unknown; id?: string }[]> {
  const blocks = (await (await answer).text()).split('\n\n').filter((block) => block.startsWith('event: '));
  return blocks.map((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    const id = field('id');
    return { event: field('event') ?? '', data: JSON.parse(field('data') ?? 'null'), ...(id ? { id } : {}) };
  });
}
