import * as z from 'zod';
import {
  assistantSchema,
  assistantCreate,
  assistantPatch,
  assistantSearch,
  assistantVersion,
  assistantVersionChange,
  assistantVersionsSearch,
  graphDrawing,
  graphSchemas,
} from '../contract/agent/assistant.ts';
import { cronSchema, cronCreateRequest } from '../contract/agent/cron.ts';
import { runSchema, runCreate, type RunCreate } from '../contract/agent/run.ts';
import {
  healthSchema,
  serverInfoSchema,
  type AgentServer,
  type ConversationServer,
} from '../contract/agent/service.ts';
import type { CallOptions } from '../contract/call-options.ts';
import {
  threadSchema,
  threadCopy,
  threadCreate,
  threadPatch,
  threadSearch,
  threadState,
} from '../contract/agent/thread.ts';
import { eventStreamType } from '../kit/sse/write-event.ts';
import { query, segment, call, type Operation } from './call.ts';
import { connection, type ConnectionSettings } from './connection.ts';
import { validRequest, readJson, readNothing, readRunResult, type Reader } from './response-readers.ts';
import { streamEvents } from './run-stream.ts';

/** How to reach an agent server, and its time limits. */
export interface AgentServerSettings extends ConnectionSettings {
  /** The URL of the agent server, from the deployment. */
  url: string;
  /** The timeout (ms) to stream, wait for or join a run if the caller sets no deadline. */
  runTimeoutMs?: number | undefined;
  /** The longest silence of a stream (ms); heartbeats count as data. */
  idleMs?: number | undefined;
  /** The longest event of a stream (bytes). */
  maxEventBytes?: number | undefined;
}

/** An agent server over HTTP; `close` ends its connections and all running calls. */
export interface AgentServerClient extends AgentServer, ConversationServer {
  close(): Promise<void>;
}

const readAssistant = readJson(assistantSchema);
const readThread = readJson(threadSchema);
const readRun = readJson(runSchema);

const readHealth: Reader<void> = (reply) => {
  const read = readJson(healthSchema)(reply);
  if (!read.ok) return read;
  if (read.value.ok) return { ok: true, value: undefined };
  const detail = 'the server says that it is not well';
  return { ok: false, failure: { kind: 'busy', effect: 'none', isTransient: true, status: reply.status, detail } };
};

/**
 * Creates a client of an agent server (docs/agents.md). Requests are validated before they are sent. Reads, including
 * searches, are retried; starting a run is not retried if its outcome is unknown.
 */
export function connectAgentServer(settings: AgentServerSettings): AgentServerClient {
  const link = connection(settings.url, settings);
  const limits = { idleMs: settings.idleMs ?? 60_000, maxEventBytes: settings.maxEventBytes ?? 16 * 1024 * 1024 };
  const runTimeoutMs = settings.runTimeoutMs ?? 15 * 60_000;
  /** Timeouts of calls whose response arrives at the end of a run. */
  const untilRunEnds = { attemptTimeoutMs: Infinity, callTimeoutMs: runTimeoutMs };

  const assistantPath = (id: string): string => `/assistants/${segment('the assistant id', id)}`;
  const threadPath = (id: string): string => `/threads/${segment('the thread id', id)}`;
  const runPath = (threadId: string, id: string): string => `${threadPath(threadId)}/runs/${segment('the run id', id)}`;
  const get = <T>(name: string, path: string, read: Reader<T>, options?: CallOptions): Promise<T> =>
    call(link, { name, method: 'GET', path }, read, options);
  const remove = (name: string, path: string, options?: CallOptions): Promise<void> =>
    call(link, { name, method: 'DELETE', path }, readNothing, options);
  /** A request with a validated body. */
  const post = (name: string, path: string, [schema, request]: [z.ZodType, unknown]): Operation => ({
    name,
    method: 'POST',
    path,
    body: validRequest(schema, name, request),
  });
  const runsPath = (threadId: string | undefined): string =>
    `${threadId === undefined ? '' : threadPath(threadId)}/runs`;
  const startRun = (name: string, suffix: string, request: RunCreate, threadId: string | undefined): Operation => ({
    ...post(name, `${runsPath(threadId)}${suffix}`, [runCreate, request]),
    secrets: secretsOf(request.webhook),
  });

  return {
    ok: async (options) => get('ask for health', '/ok', readHealth, options),
    info: async (options) => get('get server info', '/info', readJson(serverInfoSchema), options),
    createAssistant: async (request, options) =>
      call(link, post('create assistant', '/assistants', [assistantCreate, request]), readAssistant, options),
    getAssistant: async (id, options) => get('get assistant', assistantPath(id), readAssistant, options),
    searchAssistants: async (request, options) => {
      const operation = post('search assistants', '/assistants/search', [assistantSearch, request]);
      return call(link, { ...operation, safe: true }, readJson(z.array(assistantSchema)), options);
    },
    patchAssistant: async (id, request, options) => {
      const operation = post('patch assistant', assistantPath(id), [assistantPatch, request]);
      return call(link, { ...operation, method: 'PATCH' }, readAssistant, options);
    },
    listAssistantVersions: async (id, request, options) => {
      const path = `${assistantPath(id)}/versions`;
      const operation = post('list assistant versions', path, [assistantVersionsSearch, request]);
      return call(link, { ...operation, safe: true }, readJson(z.array(assistantVersion)), options);
    },
    setLatestAssistantVersion: async (id, request, options) => {
      const path = `${assistantPath(id)}/latest`;
      const operation = post('set latest assistant version', path, [assistantVersionChange, request]);
      return call(link, operation, readAssistant, options);
    },
    deleteAssistant: async (id, options) => remove('delete assistant', assistantPath(id), options),
    createThread: async (request, options) =>
      call(link, post('create thread', '/threads', [threadCreate, request]), readThread, options),
    getThread: async (id, options) => get('get thread', threadPath(id), readThread, options),
    deleteThread: async (id, options) => remove('delete thread', threadPath(id), options),
    getThreadState: async (id, options) =>
      get('get thread state', `${threadPath(id)}/state`, readJson(threadState), options),
    searchThreads: async (request, options) => {
      const operation = post('search threads', '/threads/search', [threadSearch, request]);
      return call(link, { ...operation, safe: true }, readJson(z.array(threadSchema)), options);
    },
    copyThread: async (id, request, options) => {
      const operation: Operation = { name: 'copy thread', method: 'POST', path: `${threadPath(id)}/copy` };
      const body = request && validRequest(threadCopy, operation.name, request);
      return call(link, body === undefined ? operation : { ...operation, body }, readThread, options);
    },
    patchThread: async (id, request, options) => {
      const operation = post('patch thread', threadPath(id), [threadPatch, request]);
      return call(link, { ...operation, method: 'PATCH' }, readThread, options);
    },
    drawGraph: async (id, options) => get('draw graph', `${assistantPath(id)}/graph`, readJson(graphDrawing), options),
    readSchemas: async (id, options) =>
      get('read schemas', `${assistantPath(id)}/schemas`, readJson(graphSchemas), options),
    streamRun: (request, threadId, options) => {
      const operation = {
        ...startRun('stream run', '/stream', request, threadId),
        ...untilRunEnds,
        accept: eventStreamType,
      };
      return streamEvents(link, operation, limits, options);
    },
    waitRun: async (request, threadId, options) => {
      const operation = { ...startRun('wait for run', '/wait', request, threadId), ...untilRunEnds };
      return call(link, operation, readRunResult, options);
    },
    createRun: async (request, threadId, options) =>
      call(link, startRun('create run', '', request, threadId), readRun, options),
    getRun: async (threadId, id, options) => get('get run', runPath(threadId, id), readRun, options),
    cancelRun: async (threadId, id, request = {}, options) => {
      // Sent only if set: some servers treat any value as true.
      const queryText = query({ wait: request.wait ? 1 : undefined, action: request.action });
      const path = `${runPath(threadId, id)}/cancel`;
      const operation: Operation = { name: 'cancel run', method: 'POST', path, query: queryText };
      return call(link, request.wait ? { ...operation, ...untilRunEnds } : operation, readNothing, options);
    },
    joinRun: async (threadId, id, options) => {
      const operation: Operation = { name: 'join run', method: 'GET', path: `${runPath(threadId, id)}/join` };
      return call(link, { ...operation, ...untilRunEnds }, readRunResult, options);
    },
    createCron: async (request, threadId, options) => {
      const operation = post('create cron', `${runsPath(threadId)}/crons`, [cronCreateRequest, request]);
      return call(link, { ...operation, secrets: secretsOf(request.webhook) }, readJson(cronSchema), options);
    },
    deleteCron: async (id, options) => remove('delete cron', `/runs/crons/${segment('the cron id', id)}`, options),
    close: () => link.close(),
  };
}

/** A webhook's URL may contain the token of its receiver. */
const secretsOf = (webhook: string | undefined): string[] =>
  webhook === undefined ? [] : [webhook, ...tokensOf(webhook)];

/** The secret parts of a URL: the values of its query, its user and its password. */
function tokensOf(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { searchParams, username, password } = new URL(address);
  return [...searchParams.values(), username, password];
}
