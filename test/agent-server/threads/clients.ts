import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

/** The agent of these tests: a graph with steps side by side, and one that waits two graphs deep. */
export const threadsAgent = join(import.meta.dirname, 'agent', 'langgraph.json');

/** Serves the agent of these tests. */
export const serveThreads = (options: Parameters<typeof serveAgent>[0] = {}): Promise<Serving> =>
  serveAgent({ configPath: threadsAgent, ...options });

/** The public service's client, in the two ways every promise is tried. */
export const bothClients: [name: string, open: (serving: Serving) => Client][] = [
  [
    'in process',
    ({ fetch }) => {
      const inProcess = async (input: string | URL | Request, init?: RequestInit) => {
        const request = new Request(input, init);
        const response = await fetch(request);
        // Whoever hangs up is not listened to any longer, as it is with a connection.
        const body = response.body?.pipeThrough(new TransformStream(), { signal: request.signal });
        return new Response(body ?? null, response);
      };
      return new Client({
        apiUrl: 'http://agent.test',
        apiKey: null,
        callerOptions: { maxRetries: 0, fetch: inProcess },
      });
    },
  ],
  ['over HTTP', ({ url }) => new Client({ apiUrl: url, apiKey: null, callerOptions: { maxRetries: 0 } })],
];

/** A thread on which notes were taken. */
export async function notedThread(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'notes', { input: { mood: 'calm' } });
  return thread_id;
}

/** A thread that waits for a person two graphs deep. */
export async function waitingThread(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'deep', { input: { request: 'sing' } });
  return thread_id;
}

/** The status with which a call of the client was refused, and the words. */
export async function refusedWith(call: Promise<unknown>): Promise<{ status: number; words: string }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error && 'status' in error && typeof error.status === 'number')
      return { status: error.status, words: error.message };
    throw error;
  }
  throw new Error('The server did not refuse.');
}
