// Sends runs of examples/echo-agent to an agent server over kept-alive connections. The client's cost is the same for
// every server: one client, which reads only as much of a response as it needs to check it.
import { Pool } from 'undici';
import { loadRuns, type PrepareRuns, type RoundRequest, type RunTimes } from './run-load.ts';

const headers = { 'content-type': 'application/json' };
const run = { assistant_id: 'echo', input: { input: 'Ada' } };
const waiting = JSON.stringify(run);
const streaming = JSON.stringify({ ...run, stream_mode: ['updates', 'values'] });
const messages = [{ role: 'user', content: 'Tell' }];
const telling = JSON.stringify({ assistant_id: 'tokens', input: { messages }, stream_mode: ['messages-tuple'] });

/** The pieces of the answer of the graph `tokens` (`bench/python/many_tokens.py`). */
export const tokensOfRun = 1_000;

function preparing(origin: string): PrepareRuns {
  const pool = new Pool(origin, { pipelining: 1 });
  /** Threads that are there, and on which nothing ran. */
  const threads: string[] = [];

  const ask = async (path: string, body: string) => {
    const answer = await pool.request({ path, method: 'POST', headers, body });
    if (answer.statusCode === 200) return answer.body;
    throw new Error(`POST ${path}: ${answer.statusCode} ${await answer.body.text()}`);
  };

  const makeThread = async (): Promise<string> => {
    const text = await (await ask('/threads', '{}')).text();
    const [, id] = /"thread_id":\s*"([^"]+)"/.exec(text) ?? [];
    if (id === undefined) throw new Error(`POST /threads: ${text}`);
    return id;
  };

  const waited = async (threadId: string, began: number): Promise<RunTimes> => {
    const text = await (await ask(`/threads/${threadId}/runs/wait`, waiting)).text();
    if (!text.includes('hello Ada')) throw new Error(`a run answered ${text}`);
    return { last: performance.now() - began };
  };

  const streamed = async (threadId: string, began: number): Promise<RunTimes> => {
    const times: RunTimes = { last: 0 };
    let text = '';
    for await (const chunk of await ask(`/threads/${threadId}/runs/stream`, streaming)) {
      times.last = performance.now() - began;
      times.first ??= times.last;
      text += String(chunk);
      if (times.firstUpdate === undefined && text.includes('event: updates')) times.firstUpdate = times.last;
    }
    if (text.split('event: updates').length !== 3) throw new Error(`a stream did not report both nodes: ${text}`);
    return times;
  };

  const told = async (threadId: string, began: number): Promise<RunTimes> => {
    const times: RunTimes = { last: 0 };
    let text = '';
    for await (const chunk of await ask(`/threads/${threadId}/runs/stream`, telling)) {
      times.last = performance.now() - began;
      times.first ??= times.last;
      text += String(chunk);
      if (times.firstUpdate === undefined && text.includes('event: messages')) times.firstUpdate = times.last;
    }
    const tokens = text.split('event: messages').length - 1;
    if (tokens < tokensOfRun) throw new Error(`a stream had ${tokens} of ${tokensOfRun} tokens: ${text.slice(-2_000)}`);
    return times;
  };

  return async ({ kind, count, atOnce }: RoundRequest) => {
    if (kind === 'thread-and-wait') {
      return async () => {
        const began = performance.now();
        return waited(await makeThread(), began);
      };
    }
    const make = async (): Promise<void> => {
      while (threads.length < count) threads.push(await makeThread());
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, 10) }, make));
    const carryOut = { wait: waited, alone: waited, stream: streamed, tokens: told }[kind];
    return () => carryOut(threads.pop() ?? '', performance.now());
  };
}

if (import.meta.main) loadRuns(preparing(process.argv[2] ?? ''));
