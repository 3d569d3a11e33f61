import { expect } from 'vitest';
import type { ConsoleFixture } from './fixture.ts';

/** Sends a request to the agent of a deployment, as a program with the API key does. */
export type AgentRequest = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Calls of the agent of a deployment. They throw for every response but success. */
export const agentRequests =
  ({ services: { service } }: ConsoleFixture, deploymentId: string): AgentRequest =>
  async (method, path, body) => {
    const response = await fetch(`${service.url}/agents/${deploymentId}/${path}`, {
      method,
      headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, `${method} ${path}: ${response.status} ${text}`).toBe(true);
    return text === '' ? undefined : JSON.parse(text);
  };

/** Text that must stay text: markup, a link that runs code, a mark that turns the direction around. */
export const hostile = '<img src=x onerror="document.title=1">\u202Etxt.exe [x](javascript:alert(1))';
