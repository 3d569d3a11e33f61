import type { AgentServer } from '../../../../src/contract/agent/service.ts';
import type { RunCreate, RunResult } from '../../../../src/contract/agent/run.ts';
import type { StreamEvent } from '../../../../src/contract/agent/stream-event.ts';
import { ServiceError } from '../../../../src/contract/service-error.ts';

/** The agent under test, however it is reached; available once the tests run. */
export type Given = () => AgentServer;

export const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** All events of a run. */
export async function eventsOf(agent: AgentServer, request: RunCreate, threadId?: string): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of agent.streamRun(request, threadId)) events.push(event);
  return events;
}

/** The values of a successful run. */
export function valuesOf(result: RunResult): Record<string, unknown> {
  if (result.kind !== 'values') throw new Error(`The run failed: ${result.error.error}: ${result.error.message}`);
  if (typeof result.values !== 'object' || result.values === null) throw new Error('The run left no values.');
  return { ...result.values };
}

/** The error that the server returned. */
export async function refusalOf(call: Promise<unknown>): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('The server did not refuse.');
}

/** Polls until `look` returns a value. */
export async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + 120_000;
  while (Date.now() < end) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('It did not happen within 120 seconds.');
}
