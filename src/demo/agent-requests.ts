import * as z from 'zod';
import type { LocalService } from './processes.ts';

/** Calls a deployed agent as its clients do: at the deployment's address, with the service's key. */
export interface AgentRequests {
  /** The answer to a request that goes well, read; with `body` a POST where no `method` is named. @throws Error otherwise. */
  ask<T>(path: string, shape: z.ZodType<T>, body?: object, method?: string): Promise<T>;
  /** Status and text of a POST, whatever they are. */
  send(path: string, body: object): Promise<{ status: number; text: string }>;
  /** One answer of the echo agent, by an assistant of it where one is named. @throws Error where there was none. */
  echo(input: string, assistant?: string): Promise<string>;
  /** Calls the echo agent repeatedly until stopped; `failed` lists the failed responses. */
  keepAsking(): { stop(): Promise<{ call: number; failed: string[] }> };
}

/** What a run of the echo agent ends with. */
export const echoed = z.looseObject({ output: z.string() });

/** @param address of the agent: the deployment's, which stays the same over all revisions. */
export function requestsTo(address: string, { apiKey }: Pick<LocalService, 'apiKey'>): AgentRequests {
  const request = async (method: string, path: string, body?: object): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(30_000),
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, text: await response.text() };
  };
  const requests: AgentRequests = {
    async ask(path, shape, body, method = body ? 'POST' : 'GET') {
      const { status, text } = await request(method, path, body);
      if (status !== 200) throw new Error(`${method} ${path} was answered ${status}: ${text.slice(0, 200)}`);
      return shape.parse(JSON.parse(text));
    },
    send: (path, body) => request('POST', path, body),
    async echo(input, assistant = 'echo') {
      const { output } = await requests.ask('/runs/wait', echoed, { assistant_id: assistant, input: { input } });
      return output;
    },
    keepAsking() {
      const seen = { call: 0, failed: [] as string[] };
      const stopped = new AbortController();
      const asking = (async () => {
        while (!stopped.signal.aborted) {
          seen.call += 1;
          try {
            await requests.echo('there');
          } catch (error) {
            seen.failed.push(error instanceof Error ? error.message : String(error));
          }
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      })();
      return {
        async stop() {
          stopped.abort();
          await asking;
          return seen;
        },
      };
    },
  };
  return requests;
}
