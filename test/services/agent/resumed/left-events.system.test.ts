import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { files } from '../auth/agent.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';

const agent = temporaryAgent(files);
let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent({ configPath: agent.configPath });
});
afterAll(async () => {
  await serving.close();
  agent.remove();
});

const ask = (user: string, method: string, path: string, body?: unknown) =>
  serving.fetch(
    new Request(`http://agent.test${path}`, {
      method,
      headers: { 'x-user': user },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
const run = { assistant_id: 'who', input: {}, stream_resumable: true };

test('restricted users can’t read the events of a deleted stateless run', async () => {
  const started = await ask('ada', 'POST', '/runs/stream', run);
  const place = started.headers.get('location') ?? '';
  expect(await started.text()).toContain('ADA');
  for (const user of ['ada', 'bob']) expect((await ask(user, 'GET', place)).status).toBe(404);
});

test('events of a run can’t be read through an unknown thread', async () => {
  const { thread_id } = Object(await (await ask('ada', 'POST', '/threads', {})).json());
  const started = await ask('ada', 'POST', `/threads/${thread_id}/runs/stream`, run);
  const place = started.headers.get('location') ?? '';
  await started.text();
  expect(await (await ask('ada', 'GET', place)).text()).toContain('ADA');
  const otherThread = place.replace(thread_id, randomUUID());
  for (const user of ['ada', 'bob']) expect((await ask(user, 'GET', otherThread)).status).toBe(404);
});
