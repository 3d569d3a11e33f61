import * as z from 'zod';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

/** An existing resource, by the names of path parameters: a run includes its thread. */
export type Thing = Readonly<Record<string, string>>;

/** A server in process, with the resources on it. */
export interface FuzzFixture {
  serving: Serving;
  /** What requests may be about; shrinks as they delete it. */
  things: Thing[];
  /** Creates one more of each resource. */
  furnish(): Promise<void>;
  close(): Promise<void>;
}

const Made = z.looseObject({
  assistant_id: z.string().optional(),
  thread_id: z.string().optional(),
  run_id: z.string().optional(),
  cron_id: z.string().optional(),
});
const State = z.looseObject({ checkpoint: z.looseObject({ checkpoint_id: z.string() }) });

/** Serves the tests' agent with one resource of each kind. */
export async function openFuzzFixture(): Promise<FuzzFixture> {
  const serving = await serveAgent();
  const things: Thing[] = [];
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const answer = await serving.fetch(new Request(`http://agent.test${path}`, init));
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    const text = await answer.text();
    return text === '' ? undefined : JSON.parse(text);
  };
  const made = async (path: string, body: unknown) => Made.parse(await ask('POST', path, body));
  async function furnish(): Promise<void> {
    const { assistant_id = '' } = await made('/assistants', { graph_id: 'echo' });
    await ask('PATCH', `/assistants/${assistant_id}`, { name: 'second' });
    const { thread_id = '' } = await made('/threads', {});
    await ask('POST', `/threads/${thread_id}/runs/wait`, { assistant_id: 'interrupts', input: { request: 'rest' } });
    const { checkpoint } = State.parse(await ask('GET', `/threads/${thread_id}/state`));
    const { run_id = '' } = await made(`/threads/${thread_id}/runs`, { assistant_id, input: { input: 'Ada' } });
    const { cron_id = '' } = await made(`/threads/${thread_id}/runs/crons`, { assistant_id, schedule: '0 0 1 1 *' });
    await ask('PUT', '/store/items', { namespace: ['a', 'agent'], key: 'main', value: { volume: 1 } });
    const { checkpoint_id } = checkpoint;
    things.push({ assistant_id }, { thread_id, run_id, checkpoint_id }, { cron_id });
  }
  await furnish();
  return { serving, things, furnish, close: () => serving.close() };
}
