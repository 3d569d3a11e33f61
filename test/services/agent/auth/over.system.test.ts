import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import { forwardClock, MINUTE } from '../threads/forward-clock.ts';
import { files } from './agent.ts';

const agent = temporaryAgent(files);
const clock = forwardClock();
let serving: Serving;
beforeAll(async () => {
  // The sweep runs every five minutes, so nothing removes the expired thread.
  serving = await serveAgent({ configPath: agent.configPath, clock });
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

async function ask(user: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${serving.url}${path}`, {
    method,
    headers: { 'x-user': user },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : Object(JSON.parse(text)) };
}

test('an expired thread frees its id, and its crons are missing', async () => {
  const { thread_id } = (await ask('ada', 'POST', '/threads', { ttl: 10 })).body;
  expect((await ask('ada', 'POST', `/threads/${thread_id}/runs/wait`, { assistant_id: 'who', input: {} })).status).toBe(
    200,
  );
  const yearly = { assistant_id: 'who', schedule: '0 0 1 1 *', input: {} };
  const { cron_id } = (await ask('ada', 'POST', `/threads/${thread_id}/runs/crons`, yearly)).body;
  expect((await ask('bob', 'POST', '/threads', { thread_id })).status).toBe(409);
  clock.forward(10 * MINUTE);
  for (const user of ['ada', 'bob']) {
    expect((await ask(user, 'GET', `/threads/${thread_id}`)).status).toBe(404);
    expect((await ask(user, 'DELETE', `/runs/crons/${cron_id}`)).status).toBe(404);
  }
  expect((await ask('bob', 'POST', '/threads', { thread_id })).status).toBe(200);
  expect((await ask('ada', 'GET', `/threads/${thread_id}`)).status).toBe(404);
  expect((await ask('bob', 'GET', `/threads/${thread_id}`)).body.metadata).toEqual({ owner: 'bob' });
});
