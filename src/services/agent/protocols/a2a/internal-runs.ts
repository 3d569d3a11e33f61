import * as z from 'zod';
import type { FreeObject } from '../../../../contract/agent/open-word.ts';
import { failedRunBody, runSchema, type Run } from '../../../../contract/agent/run.ts';
import { parseEvents } from '../../../../kit/sse/parse-events.ts';
import type { InternalApi } from '../internal-api.ts';
import type { RunIds } from './find-task.ts';
import { taskModes, type RunEvent } from './task-stream.ts';

/** The largest event (bytes) of a run's stream: a state may be large. */
const maxEventBytes = 64 * 1024 * 1024;

/** Runs on threads, through the server's own endpoints. */
export const internalRuns = (api: InternalApi) => ({
  async wait(threadId: string, body: FreeObject, signal: AbortSignal): Promise<{ runId: string; result: unknown }> {
    const response = await api.ask('POST', `/threads/${threadId}/runs/wait`, { body, signal });
    const runId = response.headers.get('content-location')?.split('/').at(-1) ?? '';
    return { runId, result: await response.json() };
  },

  start(threadId: string, body: FreeObject): Promise<Run> {
    return api.read(runSchema, 'POST', `/threads/${threadId}/runs`, { body });
  },

  async stream(threadId: string, body: FreeObject, signal: AbortSignal): Promise<AsyncIterable<RunEvent>> {
    const requested = { ...body, stream_mode: taskModes };
    return eventsOf(await api.ask('POST', `/threads/${threadId}/runs/stream`, { body: requested, signal }));
  },

  /** Streams the events of an existing run from now on. */
  async join({ threadId, runId }: RunIds, signal: AbortSignal): Promise<AsyncIterable<RunEvent>> {
    return eventsOf(await api.ask('GET', `/threads/${threadId}/runs/${runId}/stream`, { signal }));
  },

  get({ threadId, runId }: RunIds): Promise<Run> {
    return api.read(runSchema, 'GET', `/threads/${threadId}/runs/${runId}`);
  },

  list(threadId: string, limit: number, offset: number): Promise<Run[]> {
    return api.read(z.array(runSchema), 'GET', `/threads/${threadId}/runs?limit=${limit}&offset=${offset}`);
  },

  async cancel({ threadId, runId }: RunIds): Promise<void> {
    await api.ask('POST', `/threads/${threadId}/runs/${runId}/cancel?wait=true`);
  },

  /** The result of an ended run, as `/join` returns it. */
  async result({ threadId, runId }: RunIds, status: string): Promise<unknown> {
    const left = await api.read(z.unknown(), 'GET', `/threads/${threadId}/runs/${runId}/join`);
    // The result of a successful run may be gone by now, which is no failure of the run.
    return status === 'success' && failedRunBody.safeParse(left).success ? null : left;
  },
});
export type InternalRuns = ReturnType<typeof internalRuns>;

async function* eventsOf(response: Response): AsyncGenerator<RunEvent, void, undefined> {
  if (!response.body) return;
  for await (const { event, data } of parseEvents(response.body, { maxEventBytes: maxEventBytes })) {
    yield { event, data: JSON.parse(data) };
  }
}
