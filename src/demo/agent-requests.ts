import type * as z from 'zod';
import type { LocalService } from './local-service.ts';

/** Calls a deployed agent as its clients do: at the deployment's address, with the service's key. */
export interface AgentRequests {
  /** The answer to a request that goes well, read; with `body` a POST where no `method` is named. @throws Error otherwise. */
  ask<T>(path: string, shape: z.ZodType<T>, body?: object, method?: string): Promise<T>;
  /** Status and text of a POST, whatever they are. */
  send(path: string, body: object): Promise<{ status: number; text: string }>;
}

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
  return {
    async ask(path, shape, body, method = body ? 'POST' : 'GET') {
      const { status, text } = await request(method, path, body);
      if (status !== 200) throw new Error(`${method} ${path} was answered ${status}: ${text.slice(0, 200)}`);
      return shape.parse(JSON.parse(text));
    },
    send: (path, body) => request('POST', path, body),
  };
}
