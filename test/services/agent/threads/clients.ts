import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';

/** The agent of these tests: a graph with parallel steps, and one that interrupts two subgraphs deep. */
export const threadsAgent = join(import.meta.dirname, 'agent', 'langgraph.json');

/** Serves the agent of these tests. */
export const serveThreads = (options: Parameters<typeof serveAgent>[0] = {}): Promise<Serving> =>
  serveAgent({ configPath: threadsAgent, ...options });

/** The public client of a server. */
export const clientOf = (apiUrl: string): Client =>
  new Client({ apiUrl, apiKey: null, callerOptions: { maxRetries: 0 } });

/** A thread with notes. */
export async function notedThread(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'notes', { input: { mood: 'calm' } });
  return thread_id;
}

/** A thread interrupted two subgraphs deep. */
export async function waitingThread(client: Client): Promise<string> {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'deep', { input: { request: 'sing' } });
  return thread_id;
}

/** The status and message of a rejected client call. */
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
