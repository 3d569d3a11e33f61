import * as z from 'zod';
import {
  Assistant,
  AssistantCreate,
  AssistantPatch,
  AssistantSearch,
  AssistantVersion,
  AssistantVersionChange,
  AssistantVersionsSearch,
} from '../contract/agent/assistant.ts';
import { Cron, CronCreate } from '../contract/agent/cron.ts';
import { Run, RunCreate } from '../contract/agent/run.ts';
import { Health, ServerInfo } from '../contract/agent/server-info.ts';
import type { AgentServer } from '../contract/agent/service.ts';
import { Thread, ThreadCreate, ThreadState } from '../contract/agent/thread.ts';
import { EVENT_STREAM_TYPE } from '../sse/write-event.ts';
import { query, segment } from './path.ts';
import { call, type Operation } from './call.ts';
import { connection, type ConnectionSettings } from './connection.ts';
import { checked, readJson, readNothing, readRunResult, type Reader } from './reading.ts';
import { streamEvents } from './run-stream.ts';

/** How to reach an agent server, and its time limits. */
export interface AgentServerSettings extends ConnectionSettings {
  /** The URL of the agent server, from the deployment. */
  url: string;
  /** The longest (ms) to stream, wait for or join a run without a deadline of the caller. */
  runTimeoutMs?: number | undefined;
  /** The longest silence of a stream (ms); heartbeats count as data. */
  idleMs?: number | undefined;
  /** The longest event of a stream (bytes). */
  maxEventBytes?: number | undefined;
}

/** An agent server over HTTP; `close` ends its connections and all running calls. */
export interface AgentServerClient extends AgentServer {
  close(): Promise<void>;
}

const readInfo = readJson(ServerInfo);
const readAssistant = readJson(Assistant);
const readAssistants = readJson(z.array(Assistant));
const readVersions = readJson(z.array(AssistantVersion));
const readThread = readJson(Thread);
const readThreadState = readJson(ThreadState);
const readRun = readJson(Run);
const readCron = readJson(Cron);

const readHealth: Reader<void> = (reply) => {
  const read = readJson(Health)(reply);
  if (!read.ok) return read;
  if (read.value.ok) return { ok: true, value: undefined };
  const detail = 'the server says that it is not well';
  return { ok: false, failure: { kind: 'busy', effect: 'none', passing: true, status: reply.status, detail } };
};

/**
 * Creates a client of an agent server (agent-server.md, Endpoints). Requests are validated before they are sent. Reads,
 * including searches, are retried; starting a run is not retried if its outcome is unknown.
 */
export function connectAgentServer(settings: AgentServerSettings): AgentServerClient {
  const link = connection(settings.url, settings);
  const limits = { idleMs: settings.idleMs ?? 60_000, maxEventBytes: settings.maxEventBytes ?? 16 * 1024 * 1024 };
  const runTimeoutMs = settings.runTimeoutMs ?? 15 * 60_000;
  /** For responses that arrive at the end of a run. */
  const long = { attemptTimeoutMs: Infinity, callTimeoutMs: runTimeoutMs };

  const assistantPath = (id: string): string => `/assistants/${segment('the assistant id', id)}`;
  const threadPath = (id: string): string => `/threads/${segment('the thread id', id)}`;
  const runPath = (threadId: string, id: string): string => `${threadPath(threadId)}/runs/${segment('the run id', id)}`;
  const startRun = (name: string, tail: string, request: RunCreate, threadId: string | undefined): Operation => ({
    name,
    method: 'POST',
    path: `${threadId === undefined ? '' : threadPath(threadId)}/runs${tail}`,
    body: checked(RunCreate, name, request),
    secrets: secretsOf(request.webhook),
  });

  return {
    ok: async (options) => call(link, { name: 'ask for health', method: 'GET', path: '/ok' }, readHealth, options),
    info: async (options) => call(link, { name: 'get server info', method: 'GET', path: '/info' }, readInfo, options),
    createAssistant: async (request, options) => {
      const name = 'create assistant';
      const body = checked(AssistantCreate, name, request);
      return call(link, { name, method: 'POST', path: '/assistants', body }, readAssistant, options);
    },
    getAssistant: async (id, options) =>
      call(link, { name: 'get assistant', method: 'GET', path: assistantPath(id) }, readAssistant, options),
    searchAssistants: async (request, options) => {
      const name = 'search assistants';
      const body = checked(AssistantSearch, name, request);
      return call(
        link,
        { name, method: 'POST', path: '/assistants/search', body, safe: true },
        readAssistants,
        options,
      );
    },
    patchAssistant: async (id, request, options) => {
      const name = 'patch assistant';
      const body = checked(AssistantPatch, name, request);
      return call(link, { name, method: 'PATCH', path: assistantPath(id), body }, readAssistant, options);
    },
    listAssistantVersions: async (id, request, options) => {
      const name = 'list assistant versions';
      const body = checked(AssistantVersionsSearch, name, request);
      const operation = { name, method: 'POST', path: `${assistantPath(id)}/versions`, body, safe: true } as const;
      return call(link, operation, readVersions, options);
    },
    setLatestAssistantVersion: async (id, request, options) => {
      const name = 'set latest assistant version';
      const body = checked(AssistantVersionChange, name, request);
      return call(link, { name, method: 'POST', path: `${assistantPath(id)}/latest`, body }, readAssistant, options);
    },
    deleteAssistant: async (id, options) =>
      call(link, { name: 'delete assistant', method: 'DELETE', path: assistantPath(id) }, readNothing, options),
    createThread: async (request, options) => {
      const name = 'create thread';
      const body = checked(ThreadCreate, name, request);
      return call(link, { name, method: 'POST', path: '/threads', body }, readThread, options);
    },
    getThread: async (id, options) =>
      call(link, { name: 'get thread', method: 'GET', path: threadPath(id) }, readThread, options),
    deleteThread: async (id, options) =>
      call(link, { name: 'delete thread', method: 'DELETE', path: threadPath(id) }, readNothing, options),
    getThreadState: async (id, options) =>
      call(
        link,
        { name: 'get thread state', method: 'GET', path: `${threadPath(id)}/state` },
        readThreadState,
        options,
      ),
    streamRun: (request, threadId, options) => {
      const operation = { ...startRun('stream run', '/stream', request, threadId), ...long, accept: EVENT_STREAM_TYPE };
      return streamEvents(link, operation, limits, options);
    },
    waitRun: async (request, threadId, options) => {
      const operation = { ...startRun('wait for run', '/wait', request, threadId), ...long };
      return call(link, operation, readRunResult, options);
    },
    createRun: async (request, threadId, options) =>
      call(link, startRun('create run', '', request, threadId), readRun, options),
    getRun: async (threadId, id, options) =>
      call(link, { name: 'get run', method: 'GET', path: runPath(threadId, id) }, readRun, options),
    cancelRun: async (threadId, id, request = {}, options) => {
      // Sent only if set: some servers treat any value as true.
      const wanted = query({ wait: request.wait ? 1 : undefined, action: request.action });
      const operation = {
        name: 'cancel run',
        method: 'POST',
        path: `${runPath(threadId, id)}/cancel`,
        query: wanted,
      } as const;
      return call(link, request.wait ? { ...operation, ...long } : operation, readNothing, options);
    },
    joinRun: async (threadId, id, options) => {
      const operation = { name: 'join run', method: 'GET', path: `${runPath(threadId, id)}/join` } as const;
      return call(link, { ...operation, ...long }, readRunResult, options);
    },
    createCron: async (request, threadId, options) => {
      const name = 'create cron';
      const operation = {
        name,
        method: 'POST',
        path: `${threadId === undefined ? '' : threadPath(threadId)}/runs/crons`,
        body: checked(CronCreate, name, request),
        secrets: secretsOf(request.webhook),
      } as const;
      return call(link, operation, readCron, options);
    },
    deleteCron: async (id, options) => {
      const path = `/runs/crons/${segment('the cron id', id)}`;
      return call(link, { name: 'delete cron', method: 'DELETE', path }, readNothing, options);
    },
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
