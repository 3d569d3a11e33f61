import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { webhookDelivery } from '../../../../src/contract/agent/webhook.ts';
import { withoutSecrets } from '../../../../src/services/agent/webhooks/operations.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent, type Serving } from '../serving.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { hookedAgent } from './hooked-agent.ts';
import { startReceiver, type Receiver } from './receiver.ts';

let receiver: Receiver;
let folder: TemporaryAgent;
let serving: Serving;
beforeAll(async () => {
  receiver = await startReceiver();
  folder = hookedAgent({
    webhooks: { url: { allowed_domains: ['127.0.0.1'], allowed_ports: [receiver.port] } },
    auth: { path: './auth.ts:auth' },
  });
  writeFileSync(
    join(folder.folder, 'auth.ts'),
    `
    import { Auth } from '@langchain/langgraph-sdk/auth';
    export const auth = new Auth()
      .authenticate(async (request) => ({ identity: request.headers.get('x-user') ?? 'operator', permissions: [] }))
      .on('threads', ({ user, value }) => {
        if (user.identity === 'operator') return undefined;
        if (value.metadata) value.metadata.owner = user.identity;
        return { owner: user.identity };
      });`,
  );
  serving = await serveAgent({ configPath: folder.configPath });
});
afterAll(async () => {
  await serving.close();
  folder.remove();
  await receiver.close();
});

const send = (path: string, user: string, body?: object) =>
  fetch(`${serving.url}${path}`, {
    headers: { 'content-type': 'application/json', 'x-user': user },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
async function list(query: string, user = 'operator') {
  const answer = await send(`/webhooks/deliveries?${query}`, user);
  return answer.ok ? z.array(webhookDelivery).parse(await answer.json()) : answer.status;
}
async function run(path: string, user = 'operator'): Promise<string> {
  const { thread_id } = z.looseObject({ thread_id: z.uuid() }).parse(await (await send('/threads', user, {})).json());
  const request = { assistant_id: 'hook', input: { word: 'hi' }, webhook: receiver.at(path) };
  const started = await send(`/threads/${thread_id}/runs`, user, request);
  return z.looseObject({ run_id: z.uuid() }).parse(await started.json()).run_id;
}
const settled = (runId: string, status: string) =>
  until(async () => {
    const found = await list(`run_id=${runId}&status=${status}`);
    return Array.isArray(found) ? found[0] : undefined;
  });

test('lists what was delivered and what failed, without the query of the address', async () => {
  receiver.answer('/bad', 404);
  const [good, bad] = [await run('/good?token=secret'), await run('/bad')];
  const time = expect.stringMatching(/Z$/);
  expect(await settled(good, 'delivered')).toEqual({
    delivery_id: good,
    run_id: good,
    thread_id: expect.any(String),
    status: 'delivered',
    url: receiver.at('/good'),
    attempts: 1,
    last_attempt_at: time,
    last_status_code: 200,
    last_error: null,
    next_attempt_at: null,
    run_ended_at: time,
    settled_at: time,
  });
  expect(await settled(bad, 'failed')).toMatchObject({ last_status_code: 404, last_error: 'answered 404' });
  expect(JSON.stringify(await list('limit=100'))).not.toContain('secret');
  expect(receiver.to('/good')[0]?.headers['webhook-id']).toBe(good);
  expect(await list('limit=1')).toHaveLength(1);
  expect(await list('status=gone')).toBe(422);
});

test('sends one again at once with the same id and payload, and refuses one that is pending', async () => {
  receiver.answer('/again', 400, 200, 503);
  const id = await run('/again');
  const retry = async () => (await send(`/webhooks/deliveries/${id}/retry`, 'operator', {})).status;
  await settled(id, 'failed');
  expect(await retry()).toBe(202);
  expect(await settled(id, 'delivered')).toMatchObject({ attempts: 2, last_status_code: 200, last_error: null });
  const payloads = receiver
    .to('/again')
    .map(({ body }) => z.looseObject({ webhook_sent_at: z.string() }).parse(JSON.parse(body)));
  expect({ ...payloads[1], webhook_sent_at: '' }).toEqual({ ...payloads[0], webhook_sent_at: '' });
  expect(receiver.to('/again').map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
  expect(await retry()).toBe(202);
  const pending = await until(async () => {
    const [found] = z.array(webhookDelivery).parse(await list(`run_id=${id}&status=pending`));
    return found?.last_status_code === 503 ? found : undefined;
  });
  expect(pending).toMatchObject({ attempts: 3, next_attempt_at: expect.any(String), settled_at: null });
  expect(await retry()).toBe(409);
  expect((await send('/webhooks/deliveries/0e4ce2b1-1c1d-4f37-b6ff-1e5d4a7d9a01/retry', 'operator', {})).status).toBe(
    404,
  );
});

test('shows a user of the agent only the webhooks of own runs', async () => {
  const id = await run('/ada', 'ada');
  await settled(id, 'delivered');
  expect(await list('', 'ada')).toBe(422);
  expect(await list(`run_id=${id}`, 'ada')).toHaveLength(1);
  expect(await list(`run_id=${id}`, 'eve')).toBe(404);
  expect((await send(`/webhooks/deliveries/${id}/retry`, 'eve', {})).status).toBe(404);
  expect((await send(`/webhooks/deliveries/${id}/retry`, 'ada', {})).status).toBe(202);
});

test.each([
  ['https://user:pass@example.com/a/b?token=1#x', 'https://example.com/a/…'],
  ['https://hooks.slack.test/services/T0/B0/token', 'https://hooks.slack.test/services/…'],
  ['https://example.com/hook/', 'https://example.com/hook'],
  ['https://example.com', 'https://example.com/'],
  ['/threads/x?token=1', '/threads/x'],
  ['no address', ''],
])('the address %s is shown as %s', (address, shown) => {
  expect(withoutSecrets(address)).toBe(shown);
});
