import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunCreate } from '../../../../src/contract/agent/run.ts';
import { webhookPayloadSchema, type WebhookPayload } from '../../../../src/contract/agent/webhook.ts';
import { connectAgentServer } from '../../../../src/client/agent.ts';
import type { AgentServerClient } from '../../../../src/client/agent.ts';
import { eventsOf, ISO, refusalOf, until, UUID } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { hookedAgent } from './hooked-agent.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';

let receiver: Receiver;
let agentFolder: TemporaryAgent;
let serving: Serving;
beforeAll(async () => {
  receiver = await startReceiver();
  agentFolder = hookedAgent({
    env: { LG_WEBHOOK_TOKEN: 'token-of-the-receiver' },
    webhooks: {
      headers: { 'X-Static': 'always', Authorization: 'Bearer ${{ env.LG_WEBHOOK_TOKEN }}' },
      url: { allowed_domains: ['127.0.0.1', '*.example.com'], allowed_ports: [receiver.port] },
    },
  });
  serving = await serveAgent({ configPath: agentFolder.configPath });
});
afterAll(async () => {
  await serving.close();
  agentFolder.remove();
  await receiver.close();
  delete process.env['LG_WEBHOOK_TOKEN'];
});

let paths = 0;
/** A path of the receiver that no other test uses. */
const path = (): string => `/hook-${(paths += 1)}`;
const received = async (at: string, count = 1) => {
  await until(async () => (receiver.to(at).length >= count ? true : undefined));
  return receiver.to(at).map(({ body }) => webhookPayloadSchema.parse(JSON.parse(body)));
};
const first = async (at: string): Promise<WebhookPayload> => {
  const [payload] = await received(at);
  if (!payload) throw new Error('no webhook arrived');
  return payload;
};
const run = (at: string, more: Partial<RunCreate> = {}): RunCreate => ({
  assistant_id: 'hook',
  input: { word: 'hi' },
  webhook: receiver.at(at),
  ...more,
});

describe('webhooks, over HTTP', () => {
  let agent: AgentServerClient;
  beforeAll(() => {
    agent = connectAgentServer({ url: serving.url, userAgent: 'landfall-tests' });
  });
  afterAll(() => agent.close());
  const thread = async (): Promise<string> => (await agent.createThread({})).thread_id;

  test(
    'an ended run posts JSON with the URL’s token and the configured headers',
    {
      meta: {
        claims: [
          'agent.webhook.notifies',
          'agent.webhook.sent-on-completion',
          'agent.webhook.post',
          'agent.webhook.json-body',
          'agent.webhook.url-token',
          'agent.webhook-config.headers',
          'agent.webhook-config.file',
        ],
      },
    },
    async () => {
      const at = path();
      await agent.waitRun(run(`${at}?token=t%20o`), await thread());
      expect((await first(at)).status).toBe('success');
      const [request, more] = receiver.to(at);
      expect(request).toMatchObject({
        method: 'POST',
        url: `${at}?token=t%20o`,
        headers: {
          'content-type': 'application/json',
          'x-static': 'always',
          authorization: 'Bearer token-of-the-receiver',
          host: `127.0.0.1:${receiver.port}`,
        },
      });
      expect(more).toBeUndefined();
    },
  );

  test(
    'the payload of a thread run has every field of the table',
    {
      meta: {
        claims: [
          'agent.webhook.run-shape',
          'agent.webhook.payload.run-id',
          'agent.webhook.payload.thread-id',
          'agent.webhook.payload.assistant-id',
          'agent.webhook.payload.status',
          'agent.webhook.payload.created-at',
          'agent.webhook.payload.updated-at',
          'agent.webhook.payload.run-started-at',
          'agent.webhook.payload.run-ended-at',
          'agent.webhook.payload.webhook-sent-at',
          'agent.webhook.payload.metadata',
          'agent.webhook.payload.kwargs',
          'agent.webhook.payload.values',
          'agent.webhook.payload.multitask-strategy',
          'agent.webhook.payload.error-null',
          'agent.runs.webhook',
        ],
      },
    },
    async () => {
      const [at, thread_id] = [path(), await thread()];
      const request = run(at, { metadata: { m: 1 }, config: { tags: ['t'] }, multitask_strategy: 'interrupt' });
      const { run_id } = await agent.createRun(request, thread_id);
      const payload = await first(at);
      expect(payload).toEqual({
        run_id,
        thread_id,
        assistant_id: expect.stringMatching(UUID),
        status: 'success',
        created_at: expect.stringMatching(ISO),
        updated_at: expect.stringMatching(ISO),
        run_started_at: expect.stringMatching(ISO),
        run_ended_at: expect.stringMatching(ISO),
        webhook_sent_at: expect.stringMatching(ISO),
        metadata: expect.objectContaining({ m: 1, graph_id: 'hook' }),
        kwargs: expect.objectContaining({
          input: { word: 'hi' },
          webhook: receiver.at(at),
          config: expect.objectContaining({ tags: ['t'] }),
        }),
        values: { word: 'hi', said: 'said hi', steps: ['prepare', 'say'] },
        multitask_strategy: 'interrupt',
        error: null,
      });
      const order = [payload.created_at, payload.run_started_at, payload.run_ended_at, payload.webhook_sent_at];
      expect(order.toSorted((one = '', other = '') => one.localeCompare(other))).toEqual(order);
      const shown = await agent.getRun(thread_id, run_id);
      expect(payload).toMatchObject(shown);
      expect((await agent.getThreadState(thread_id)).values).toEqual(payload.values);
    },
  );

  test(
    'omits the values of a stateless run unless its thread is kept',
    { meta: { claims: ['agent.webhook.payload.values-stateful-only'] } },
    async () => {
      const [at, kept] = [path(), path()];
      await agent.waitRun(run(at), undefined);
      expect(await first(at)).not.toHaveProperty('values');
      expect(await first(at)).toMatchObject({
        status: 'success',
        error: null,
        run_ended_at: expect.stringMatching(ISO),
      });
      await agent.waitRun(run(kept, { on_completion: 'keep' }), undefined);
      expect(await first(kept)).toMatchObject({ values: { said: 'said hi' } });
    },
  );

  test(
    'reports the error of a failed run by type and message',
    {
      meta: {
        claims: [
          'agent.webhook.payload.error',
          'agent.webhook.payload.error-type',
          'agent.webhook.payload.error-message',
          'agent.errors.run-failure-in-webhook',
        ],
      },
    },
    async () => {
      for (const threadId of [await thread(), undefined]) {
        const at = path();
        await agent.waitRun(run(at, { input: { word: 'hi', fail: 'no ink' } }), threadId);
        expect(await first(at)).toMatchObject({ status: 'error', error: { error: 'OutOfInk', message: 'no ink' } });
      }
    },
  );

  test('the values of a failed run are those of its last step', async () => {
    const at = path();
    await agent.waitRun(run(at, { input: { word: 'hi', fail: 'no ink' } }), await thread());
    expect((await first(at)).values).toMatchObject({ word: 'hi', steps: ['prepare'] });
  });

  test('an interrupted run is reported as successful', async () => {
    const at = path();
    await agent.waitRun(run(at, { input: { word: 'hi', ask: true } }), await thread());
    expect(await first(at)).toMatchObject({ status: 'success', error: null, values: { steps: ['prepare'] } });
  });

  test('notifies of a cancelled run, started or not; skips a run that is rolled back', async () => {
    const [started, waiting, undone, thread_id] = [path(), path(), path(), await thread()];
    const slow = { word: 'hi', sleep_ms: 20_000 };
    const one = await agent.createRun(run(started, { input: slow }), thread_id);
    const other = await agent.createRun(run(waiting), thread_id);
    await until(async () => ((await agent.getRun(thread_id, one.run_id)).status === 'running' ? true : undefined));
    await agent.cancelRun(thread_id, other.run_id, { wait: true });
    await agent.cancelRun(thread_id, one.run_id, { wait: true });
    expect(await first(started)).toMatchObject({ status: 'interrupted', error: null, values: { word: 'hi' } });
    expect(await first(waiting)).toMatchObject({
      status: 'interrupted',
      error: null,
      run_id: other.run_id,
      run_started_at: expect.stringMatching(ISO),
    });
    const third = await agent.createRun(run(undone, { input: slow }), thread_id);
    await agent.cancelRun(thread_id, third.run_id, { wait: true, action: 'rollback' });
    const after = path();
    await agent.waitRun(run(after), await thread());
    await first(after);
    expect(receiver.to(undone)).toEqual([]);
  });

  test('reports a run as cut off when its stream is closed', async () => {
    const at = path();
    const events = agent.streamRun(run(at, { input: { word: 'hi', sleep_ms: 20_000 } }), await thread());
    for await (const { event } of events) if (event === 'values') break;
    expect(await first(at)).toMatchObject({ status: 'interrupted', error: null });
  });

  test('a run without a webhook sends nothing', { meta: { claims: ['agent.webhook.none-without-url'] } }, async () => {
    const before = receiver.received.length;
    await agent.waitRun({ assistant_id: 'hook', input: { word: 'hi' } }, await thread());
    await agent.waitRun({ assistant_id: 'hook', input: { word: 'hi' } }, undefined);
    const at = path();
    await agent.waitRun(run(at), undefined);
    await first(at);
    expect(receiver.received.length).toBe(before + 1);
  });

  test(
    'every way to start a run accepts a webhook',
    {
      meta: {
        claims: [
          'agent.webhook.on-stream-run',
          'agent.webhook.on-wait-run',
          'agent.webhook.on-create-run',
          'agent.webhook.on-stream-run-stateless',
          'agent.webhook.on-wait-run-stateless',
        ],
      },
    },
    async () => {
      const threadId = await thread();
      const all = {
        created: path(),
        streamed: path(),
        waited: path(),
        streamedStateless: path(),
        waitedStateless: path(),
        createdStateless: path(),
      };
      await agent.createRun(run(all.created), threadId);
      await eventsOf(agent, run(all.streamed), threadId);
      await agent.waitRun(run(all.waited), threadId);
      await eventsOf(agent, run(all.streamedStateless));
      await agent.waitRun(run(all.waitedStateless), undefined);
      await agent.createRun(run(all.createdStateless), undefined);
      for (const at of Object.values(all)) expect(await received(at)).toHaveLength(1);
    },
  );

  test(
    'an invalid webhook is rejected with the option, without its token',
    { meta: { claims: ['agent.errors.webhook-url-refused'] } },
    async () => {
      const refused = async (webhook: string) => refusalOf(agent.createRun(run('/', { webhook }), await thread()));
      const [port, domain, privately, nothing] = await Promise.all(
        [
          'http://127.0.0.1:1/?t=geheim',
          `http://evil.test:${receiver.port}/?t=geheim`,
          `http://127.0.0.2:${receiver.port}/?t=geheim`,
          'geheim',
        ].map(refused),
      );
      expect(port?.problems).toMatchObject([
        { loc: ['body', 'webhook'], msg: expect.stringContaining('allowed_ports') },
      ]);
      expect(domain?.problems).toMatchObject([{ msg: expect.stringContaining('allowed_domains') }]);
      expect(privately?.problems).toMatchObject([{ msg: expect.stringContaining('allowed_domains') }]);
      expect(nothing?.problems).toMatchObject([{ msg: expect.stringContaining('http://') }]);
      for (const error of [port, domain, privately, nothing]) {
        expect(error?.status).toBe(422);
        expect(JSON.stringify(error?.problems)).not.toContain('geheim');
      }
      const stateless = run('/', { webhook: 'ftp://x' });
      expect((await refusalOf(agent.waitRun(stateless, undefined))).status).toBe(422);
    },
  );

  test(
    'the server’s version is one that has these features',
    {
      meta: {
        claims: [
          'agent.webhook-config.headers-version',
          'agent.webhook-config.url-version',
          'agent.webhook-config.disable-webhooks-version',
          'agent.versioning.webhook-features',
          'agent.versioning.disable-webhooks',
        ],
      },
    },
    async () => {
      const info = await agent.info();
      const [major = 0, minor = 0, patch = 0] = info.version.split('.').map(Number);
      expect(major * 1e6 + minor * 1e3 + patch).toBeGreaterThanOrEqual(5036);
      expect(info.flags).toMatchObject({ webhooks: true });
    },
  );
});

test('the log never shows a URL', () => {
  expect(serving.lines.join('\n')).not.toContain('token=');
});
