import * as z from 'zod';
import { Assistant, AssistantVersion } from '../../src/contract/agent/assistant.ts';
import { Cron } from '../../src/contract/agent/cron.ts';
import { ERROR_KEY, FailedRunBody, Run } from '../../src/contract/agent/run.ts';
import type { RunCreate, RunResult } from '../../src/contract/agent/run.ts';
import { ServerInfo } from '../../src/contract/agent/server-info.ts';
import type { AgentServer } from '../../src/contract/agent/service.ts';
import { Thread, ThreadState } from '../../src/contract/agent/thread.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import type { FieldProblem, ServiceErrorKind } from '../../src/contract/service-error.ts';
import { parseEvents } from '../../src/sse/parse-events.ts';

const Detail = z.object({
  detail: z.union([
    z.string(),
    z.array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string(), type: z.string() })),
  ]),
});

const KINDS: Record<number, ServiceErrorKind> = { 403: 'unauthorized', 404: 'missing', 409: 'conflict', 503: 'busy' };

/** An agent server without the network: requests go directly to its routes. */
export function agentServerInProcess(fetch: (request: Request) => Response | Promise<Response>): AgentServer {
  const send = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(new Request(`http://agent.test${path}`, { method, ...init }));
    if (response.ok) return response;
    const { detail } = Detail.parse(await response.json());
    throw new ServiceError({
      kind: KINDS[response.status] ?? 'rejected',
      operation: `${method} ${path}`,
      method,
      address: path,
      status: response.status,
      detail: typeof detail === 'string' ? detail : undefined,
      problems: typeof detail === 'string' ? [] : (detail satisfies FieldProblem[]),
      effect: 'none',
    });
  };
  const read = async <T>(schema: z.ZodType<T>, method: string, path: string, body?: unknown): Promise<T> =>
    schema.parse(await (await send(method, path, body)).json());
  const runs = (threadId: string | undefined) => (threadId === undefined ? '/runs' : `/threads/${threadId}/runs`);
  const result = async (method: string, path: string, body?: unknown): Promise<RunResult> => {
    const values: unknown = await (await send(method, path, body)).json();
    const failed = FailedRunBody.safeParse(values);
    return failed.success ? { kind: 'error', error: failed.data[ERROR_KEY] } : { kind: 'values', values };
  };
  return {
    ok: async () => void (await send('GET', '/ok')),
    info: () => read(ServerInfo, 'GET', '/info'),
    createAssistant: (request) => read(Assistant, 'POST', '/assistants', request),
    getAssistant: (id) => read(Assistant, 'GET', `/assistants/${id}`),
    searchAssistants: (request) => read(z.array(Assistant), 'POST', '/assistants/search', request),
    patchAssistant: (id, request) => read(Assistant, 'PATCH', `/assistants/${id}`, request),
    listAssistantVersions: (id, request) =>
      read(z.array(AssistantVersion), 'POST', `/assistants/${id}/versions`, request),
    setLatestAssistantVersion: (id, request) => read(Assistant, 'POST', `/assistants/${id}/latest`, request),
    deleteAssistant: async (id) => void (await send('DELETE', `/assistants/${id}`)),
    createThread: (request) => read(Thread, 'POST', '/threads', request),
    getThread: (id) => read(Thread, 'GET', `/threads/${id}`),
    deleteThread: async (id) => void (await send('DELETE', `/threads/${id}`)),
    getThreadState: (id) => read(ThreadState, 'GET', `/threads/${id}/state`),
    async *streamRun(request: RunCreate, threadId) {
      const { body } = await send('POST', `${runs(threadId)}/stream`, request);
      if (!body) return;
      for await (const { event, data, id } of parseEvents(body, { maxEventBytes: 1_000_000 })) {
        yield { event, data: JSON.parse(data), ...(id === undefined ? {} : { id }) };
      }
    },
    waitRun: (request, threadId) => result('POST', `${runs(threadId)}/wait`, request),
    createRun: (request, threadId) => read(Run, 'POST', runs(threadId), request),
    getRun: (threadId, runId) => read(Run, 'GET', `/threads/${threadId}/runs/${runId}`),
    cancelRun: async (threadId, runId, { wait, action } = {}) => {
      const query = new URLSearchParams({ ...(wait ? { wait: '1' } : {}), ...(action ? { action } : {}) });
      await send('POST', `/threads/${threadId}/runs/${runId}/cancel?${query.toString()}`);
    },
    joinRun: (threadId, runId) => result('GET', `/threads/${threadId}/runs/${runId}/join`),
    createCron: (request, threadId) => read(Cron, 'POST', `${runs(threadId)}/crons`, request),
    deleteCron: async (id) => void (await send('DELETE', `/runs/crons/${id}`)),
  };
}
