import type { BrowserContext } from 'playwright-core';
import * as z from 'zod';
import type { ConsoleFixture } from './fixture.ts';

/** Signs a browser in again, perhaps to another workspace, without notifying its open pages. */
export async function signInUnheard(
  { services: { service } }: ConsoleFixture,
  context: BrowserContext,
  { key = service.apiKey, tenantId }: { key?: string; tenantId?: string } = {},
): Promise<void> {
  const { url } = service;
  const headers = { origin: url };
  const made = await context.request.post(`${url}/v1/sessions`, { headers, data: { api_key: key } });
  const { csrf_token } = z.object({ csrf_token: z.string() }).parse(await made.json());
  if (tenantId === undefined) return;
  const chosen = { headers: { ...headers, 'x-csrf-token': csrf_token }, data: { tenant_id: tenantId } };
  const response = await context.request.patch(`${url}/v1/session`, chosen);
  if (!response.ok()) throw new Error(`The workspace was not chosen: ${response.status()}`);
}
