import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebhookPayload } from '../../../src/contract/agent/webhook.ts';
import { askBothWays } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { until } from '../promises/given.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { hookedAgent } from '../webhooks/hooked-agent.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import type { Receiver } from '../webhooks/receiver.ts';
import { SettableClock } from './settable-clock.ts';

const clock = new SettableClock('2026-11-21T08:58:00Z');
let receiver: Receiver;
let agentFolder: TemporaryAgent;
let serving: Serving;
beforeAll(async () => {
  receiver = await startReceiver();
  agentFolder = hookedAgent({ webhooks: { url: { allowed_domains: ['127.0.0.1'], allowed_ports: [receiver.port] } } });
  serving = await serveAgent({ configPath: agentFolder.configPath, clock });
});
afterAll(async () => {
  await serving.close();
  agentFolder.remove();
  await receiver.close();
});

describe.each(askBothWays)('crons with a webhook, %s', (way, open) => {
  let ask: Ask;
  beforeAll(() => {
    ask = open(serving);
  });
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await ask('POST', path, body);
    expect(answer).toMatchObject({ status: 200 });
    return Object(answer.body);
  };

  test.each([
    ['[agent.webhook.on-create-thread-cron] on a thread', '/threads/:thread/runs/crons', true],
    ['[agent.webhook.on-create-thread-cron] on a thread, spelled as in the list', '/thread/:thread/runs/crons', true],
    ['[agent.webhook.on-create-cron] without a thread', '/runs/crons', false],
  ])('%s tell it of each run', async (_, path, isStateful) => {
    clock.set('2026-11-21T08:58:30Z');
    const { thread_id } = await post('/threads', {});
    const hook = `/${way.replaceAll(' ', '-')}${path.replace(':thread', '')}`;
    const cron = await post(path.replace(':thread', String(thread_id)), {
      assistant_id: 'hook',
      schedule: '* * * * *',
      input: { word: 'tick' },
      metadata: { by: hook },
      webhook: receiver.at(`${hook}?token=t`),
    });
    expect(cron).toMatchObject({ payload: { webhook: receiver.at(`${hook}?token=t`) } });
    clock.set('2026-11-21T08:59:00Z');
    await until(async () => (receiver.to(hook).length > 0 ? true : undefined));
    await ask('DELETE', `/runs/crons/${String(cron['cron_id'])}`);
    expect(receiver.to(hook)).toHaveLength(1);
    const payload = WebhookPayload.parse(JSON.parse(receiver.to(hook)[0]?.body ?? ''));
    expect(payload).toMatchObject({
      status: 'success',
      assistant_id: cron['assistant_id'],
      metadata: { by: hook, cron_id: cron['cron_id'] },
      kwargs: { input: { word: 'tick' } },
      error: null,
    });
    expect(payload.thread_id === thread_id).toBe(isStateful);
    const said = isStateful ? 'said tick' : undefined;
    expect(['values' in payload, Object(payload.values).said]).toEqual([isStateful, said]);
  });

  test('are refused where it breaks the rules, when they are made and when they are changed', async () => {
    const daily = { assistant_id: 'hook', schedule: '@daily' };
    const refused = { status: 422, body: { detail: [{ loc: ['body', 'webhook'] }] } };
    const webhook = 'http://elsewhere.example.com/';
    expect(await ask('POST', '/runs/crons', { ...daily, webhook })).toMatchObject(refused);
    const { cron_id } = await post('/runs/crons', daily);
    expect(await ask('PATCH', `/runs/crons/${String(cron_id)}`, { webhook })).toMatchObject(refused);
  });
});
