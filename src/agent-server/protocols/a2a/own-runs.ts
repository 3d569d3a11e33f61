import * as z from 'zod';
import { FailedRunBody, Run } from '../../../contract/agent/run.ts';
import { parseEvents } from '../../../sse/parse-events.ts';
import type { OwnApi } from '../own-api.ts';
import type { RunEvent } from './task-stream.ts';
import { TASK_MODES } from './task-stream.ts';

/** The largest event (bytes) that is read of a run's stream: a state may be large. */
const MOST_EVENT_BYTES = 64 * 1024 * 1024;

/** What a run on a thread is started with. */
export type RunRequest = Record<string, unknown>;

/** Where a run lies. */
export interface RunPlace {
  threadId: string;
  runId: string;
}

/** Runs on threads, by the server's own endpoints. */
export class OwnRuns {
  readonly #api: OwnApi;

  constructor(api: OwnApi) {
    this.#api = api;
  }

  /** Starts a run and waits for its end. */
  async wait(threadId: string, body: RunRequest, signal: AbortSignal): Promise<{ runId: string; result: unknown }> {
    const response = await this.#api.ask('POST', `/threads/${threadId}/runs/wait`, { body, signal });
    const runId = response.headers.get('content-location')?.split('/').at(-1) ?? '';
    const result: unknown = await response.json();
    return { runId, result };
  }

  /** Starts a run and leaves it alone. */
  start(threadId: string, body: RunRequest): Promise<Run> {
    return this.#api.read(Run, 'POST', `/threads/${threadId}/runs`, { body });
  }

  /** Starts a run and follows it. */
  async stream(threadId: string, body: RunRequest, signal: AbortSignal): Promise<AsyncIterable<RunEvent>> {
    const requested = { ...body, stream_mode: TASK_MODES };
    return eventsOf(await this.#api.ask('POST', `/threads/${threadId}/runs/stream`, { body: requested, signal }));
  }

  /** Follows a run that was started, from now on. */
  async join({ threadId, runId }: RunPlace, signal: AbortSignal): Promise<AsyncIterable<RunEvent>> {
    return eventsOf(await this.#api.ask('GET', `/threads/${threadId}/runs/${runId}/stream`, { signal }));
  }

  get({ threadId, runId }: RunPlace): Promise<Run> {
    return this.#api.read(Run, 'GET', `/threads/${threadId}/runs/${runId}`);
  }

  list(threadId: string, limit: number, offset: number): Promise<Run[]> {
    return this.#api.read(z.array(Run), 'GET', `/threads/${threadId}/runs?limit=${limit}&offset=${offset}`);
  }

  async cancel({ threadId, runId }: RunPlace): Promise<void> {
    await this.#api.ask('POST', `/threads/${threadId}/runs/${runId}/cancel?wait=true`);
  }

  /** What a run that has ended left, as one who waited was answered. */
  async result({ threadId, runId }: RunPlace, status: string): Promise<unknown> {
    const left = await this.#api.read(z.unknown(), 'GET', `/threads/${threadId}/runs/${runId}/join`);
    // What a run left that ended well may be gone by now: it ended well all the same.
    return status === 'success' && FailedRunBody.safeParse(left).success ? null : left;
  }
}

async function* eventsOf(response: Response): AsyncGenerator<RunEvent, void, undefined> {
  if (!response.body) return;
  for await (const { event, data } of parseEvents(response.body, { maxEventBytes: MOST_EVENT_BYTES })) {
    yield { event, data: JSON.parse(data) };
  }
}
