import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { hookedAgent } from '../webhooks/hooked-agent.ts';
import { expectTable } from '../webhooks/payload-table.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import type { Receiver } from '../webhooks/receiver.ts';
import { SettableClock } from './settable-clock.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

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

test('the public client creates a cron that fires and calls its webhook', async () => {
  clock.set('2026-11-21T08:58:30Z');
  const { crons, threads } = new Client({ apiUrl: serving.url, apiKey: null });
  const { thread_id } = await threads.create();
  const { cron_id } = await crons.createForThread(thread_id, 'hook', {
    schedule: '* * * * *',
    input: { word: 'the minute' },
    webhook: receiver.at('/sdk'),
  });
  clock.set('2026-11-21T08:59:00Z');
  const [received] = await until(async () => (receiver.to('/sdk').length > 0 ? receiver.to('/sdk') : undefined));
  await crons.delete(cron_id);
  expect(JSON.parse(received?.body ?? '')).toMatchObject({
    thread_id,
    status: 'success',
    metadata: { cron_id },
    values: { said: 'said the minute' },
  });
  expect(await threads.get(thread_id)).toMatchObject({ values: { said: 'said the minute' } });
});

describe('crons with a webhook, over HTTP', () => {
  let ask: Ask;
  beforeAll(() => {
    ask = askAt(serving.url);
  });
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await ask('POST', path, body);
    expect(answer).toMatchObject({ status: 200 });
    return Object(answer.body);
  };

  const paths: [claims: string, title: string, path: string, isStateful: boolean][] = [
    ['agent.webhook.on-create-thread-cron', 'on a thread', '/threads/:thread/runs/crons', true],
    ['agent.webhook.on-create-thread-cron', 'on a thread, spelled as in the list', '/thread/:thread/runs/crons', true],
    ['agent.webhook.on-create-cron', 'without a thread', '/runs/crons', false],
  ];
  eachClaim(paths)('%s call it for each run with every field of the table', {}, async (_, path, isStateful) => {
    clock.set('2026-11-21T08:58:30Z');
    const make = async (fail: string | undefined) => {
      const { thread_id } = await post('/threads', {});
      const at = `${path.replace(':thread', '')}${fail ? '/failing' : ''}`;
      const input = { word: 'tick', ...(fail ? { fail } : {}) };
      const webhook = receiver.at(`${at}?token=t`);
      const cron = await post(path.replace(':thread', String(thread_id)), {
        assistant_id: 'hook',
        schedule: '* * * * *',
        input,
        metadata: { by: at },
        multitask_strategy: 'interrupt',
        webhook,
      });
      expect(cron).toMatchObject({ payload: { webhook } });
      return { at, input, webhook, cron, thread_id: String(thread_id), fail };
    };
    const made = [await make(undefined), await make('no ink')];
    clock.set('2026-11-21T08:59:00Z');
    await until(async () => (made.every(({ at }) => receiver.to(at).length > 0) ? true : undefined));
    for (const { cron } of made) await ask('DELETE', `/runs/crons/${String(cron['cron_id'])}`);
    for (const { at, input, webhook, cron, thread_id, fail } of made) {
      const [received, ...more] = receiver.to(at);
      if (!received) throw new Error('nothing received');
      expect(more).toEqual([]);
      const { thread_id: reported } = expectTable(received, {
        threadId: isStateful ? thread_id : undefined,
        assistantId: String(cron['assistant_id']),
        status: fail ? 'error' : 'success',
        metadata: { by: at, cron_id: cron['cron_id'] },
        input,
        webhook,
        multitaskStrategy: 'interrupt',
        values: isStateful
          ? { ...input, steps: fail ? ['prepare'] : ['prepare', 'say'], ...(fail ? {} : { said: 'said tick' }) }
          : undefined,
        error: fail ? { error: 'OutOfInk', message: fail } : null,
      });
      expect(reported === thread_id).toBe(isStateful);
    }
  });

  test('include the values if their runs keep their threads', async () => {
    clock.set('2026-11-21T08:58:30Z');
    const at = '/kept';
    const { cron_id } = await post('/runs/crons', {
      assistant_id: 'hook',
      schedule: '* * * * *',
      input: { word: 'tick' },
      on_run_completed: 'keep',
      webhook: receiver.at(at),
    });
    clock.set('2026-11-21T08:59:00Z');
    const [received] = await until(async () => (receiver.to(at).length > 0 ? receiver.to(at) : undefined));
    await ask('DELETE', `/runs/crons/${String(cron_id)}`);
    expect(JSON.parse(received?.body ?? '')).toMatchObject({ values: { said: 'said tick' }, error: null });
  });

  test('reject a webhook that breaks the rules, on create and on update', async () => {
    const daily = { assistant_id: 'hook', schedule: '@daily' };
    const refused = { status: 422, body: { detail: [{ loc: ['body', 'webhook'] }] } };
    const webhook = 'http://other.example.com/';
    expect(await ask('POST', '/runs/crons', { ...daily, webhook })).toMatchObject(refused);
    const { cron_id } = await post('/runs/crons', daily);
    expect(await ask('PATCH', `/runs/crons/${String(cron_id)}`, { webhook })).toMatchObject(refused);
  });
});
