import { afterEach, expect, test, vi } from 'vitest';
import { routeToAgent } from '../../src/console/api/agent-access.ts';

const id = '0d9d6b4b-6a0c-4d4e-8a3a-2c7f5f0c1a22';
const agents_url = 'http://agents.localhost:8420/base';
let sessions = 0;
/** A session of its own for each test: tokens are kept by session. */
const newSession = () => ({
  key_id: 'k',
  key_name: 'ci',
  tenant_id: 't',
  tenants: [],
  csrf_token: `csrf ${(sessions += 1)}`,
  expires_at: '',
});
const granting = () => {
  let count = 0;
  return vi.fn<(deploymentId: string) => Promise<Response>>(async () =>
    Response.json({ token: `token ${(count += 1)}`, expires_at: '' }),
  );
};

afterEach(() => void vi.useRealTimers());

test.each([
  [`agents/${id}/threads?x=1`, `${agents_url}/agents/${id}/threads?x=1`],
  [`agents/${id}@${id}/threads`, `${agents_url}/agents/${id}@${id}/threads`],
  [`agents/${id}`, `${agents_url}/agents/${id}`],
])('a request to %s goes to the origin of agents', async (path, url) => {
  const request = granting();
  const route = await routeToAgent(path, { ...newSession(), agents_url }, request);
  expect(route).toEqual({ url: new URL(url), token: 'token 1' });
  expect(request).toHaveBeenCalledExactlyOnceWith(id);
});

test.each([
  ['of the service itself', `v2/deployments/${id}`, agents_url],
  ['without an id', 'agents/x/threads', agents_url],
  ['where agents have no origin of their own', `agents/${id}/threads`, undefined],
])('a request %s stays where it is', async (_, path, url) => {
  const request = granting();
  expect(await routeToAgent(path, { ...newSession(), agents_url: url }, request)).toBeUndefined();
  expect(request).not.toHaveBeenCalled();
});

test('one token is requested for requests at the same time, and another one before it ends', async () => {
  vi.useFakeTimers();
  const used = { ...newSession(), agents_url };
  const request = granting();
  const send = () => routeToAgent(`agents/${id}/threads`, used, request);
  expect(await Promise.all([send(), send()])).toMatchObject([{ token: 'token 1' }, { token: 'token 1' }]);
  vi.advanceTimersByTime(239_000);
  expect(await send()).toMatchObject({ token: 'token 1' });
  vi.advanceTimersByTime(1_000);
  expect(await send()).toMatchObject({ token: 'token 2' });
});

test('a refusal is passed on to each request, and the next one tries again', async () => {
  const used = { ...newSession(), agents_url };
  const request = granting().mockResolvedValueOnce(Response.json({ detail: 'gone' }, { status: 404 }));
  const send = () => routeToAgent(`agents/${id}/threads`, used, request);
  for (const refused of await Promise.all([send(), send()])) {
    expect(refused instanceof Response && [refused.status, await refused.json()]).toEqual([404, { detail: 'gone' }]);
  }
  expect(await send()).toMatchObject({ token: 'token 1' });
});

test('a request for a token that fails is not kept', async () => {
  const used = { ...newSession(), agents_url };
  const request = granting().mockRejectedValueOnce(new TypeError('Failed to fetch'));
  const send = () => routeToAgent(`agents/${id}/threads`, used, request);
  await expect(send()).rejects.toThrow('Failed to fetch');
  expect(await send()).toMatchObject({ token: 'token 1' });
});
