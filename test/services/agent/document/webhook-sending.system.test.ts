import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { webhookPayloadSchema, type WebhookPayload } from '../../../../src/contract/agent/webhook.ts';
import { ISO, until, UUID } from '../promises/fixture.ts';
import type { Serving } from '../serving.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import type { Receiver } from '../webhooks/receiver.ts';
import { sendTo } from './send.ts';
import type { Send } from './send.ts';
import { serveConfig, whyItDoesNotStart } from './serve-config.ts';

const VARIABLES = ['LG_WEBHOOK_TOKEN', 'MINE_TOKEN'] as const;
const run = { assistant_id: 'hook', input: { word: 'hi' } };

let receiver: Receiver;
let sending: Serving;
/** What the receiver accepts. */
let url: { allowed_domains: string[]; allowed_ports: number[] };
beforeAll(async () => {
  receiver = await startReceiver();
  url = { allowed_domains: ['127.0.0.1'], allowed_ports: [receiver.port] };
  sending = await serveConfig({
    env: { LG_WEBHOOK_TOKEN: 'token-of-the-receiver' },
    webhooks: { headers: { 'X-Static': 'always', 'X-Token': 'Bearer ${{ env.LG_WEBHOOK_TOKEN }}!' }, url },
  });
});
beforeEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});
afterAll(async () => {
  await sending.close();
  await receiver.close();
});

/** A server's response; `body` is its JSON, or the text of a stream. */
type Ask = (method: string, path: string, body?: object) => Promise<{ status: number; body: unknown }>;
const asking =
  (send: Send): Ask =>
  async (method, at, body) => {
    const response = await send(method, at, body);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  };

let paths = 0;
/** A path of the receiver that no other test uses. */
const path = (): string => `/sent-${(paths += 1)}`;
const received = async (at: string, count = 1) =>
  until(async () => (receiver.to(at).length >= count ? receiver.to(at) : undefined));
const payloadAt = async (at: string): Promise<WebhookPayload> =>
  webhookPayloadSchema.parse(JSON.parse((await received(at))[0]?.body ?? ''));

describe('webhook requests, over HTTP', () => {
  let ask: Ask;
  beforeAll(() => {
    ask = asking(sendTo(sending.url));
  });
  const ok = async (method: string, at: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await ask(method, at, body);
    expect(answer).toMatchObject({ status: 200 });
    return Object(answer.body);
  };
  const thread = async (): Promise<string> => String((await ok('POST', '/threads', {}))['thread_id']);
  /** Serves a configuration for one test. */
  const within = async (config: object, use: (requested: Ask) => Promise<void>): Promise<void> => {
    const serving = await serveConfig(config);
    try {
      await use(asking(sendTo(serving.url)));
    } finally {
      await serving.close();
    }
  };

  test(
    'every request has the configured headers with their variables’ values',
    { meta: { claims: ['agent.webhook-config.headers', 'agent.webhook-config.env-template'] } },
    async () => {
      const ways = ['/threads/:thread/runs', '/threads/:thread/runs/wait', '/runs', '/runs/stream', '/runs/wait'];
      for (const way of ways) {
        const at = path();
        const { status } = await ask('POST', way.replace(':thread', await thread()), {
          ...run,
          webhook: receiver.at(at),
        });
        expect([way, status]).toEqual([way, 200]);
        const [request] = await received(at);
        expect([way, request?.headers]).toMatchObject([
          way,
          { 'x-static': 'always', 'x-token': 'Bearer token-of-the-receiver!', 'content-type': 'application/json' },
        ]);
      }
    },
  );

  test(
    'a relative URL calls the server itself, with the headers',
    { meta: { claims: ['agent.webhook-config.headers', 'agent.webhook-config.relative-url'] } },
    async () => {
      const [first, second] = [await thread(), await thread()];
      await ok('POST', `/threads/${first}/runs/wait`, { ...run, webhook: `/threads/${second}/runs` });
      // It received the body of a run, which ran its assistant again.
      const started = await until(async () => {
        const { body } = await ask('GET', `/threads/${second}/runs`);
        return Array.isArray(body) && body.length > 0 ? body : undefined;
      });
      expect(started).toMatchObject([
        {
          thread_id: second,
          metadata: { graph_id: 'hook' },
          kwargs: { config: { configurable: { 'x-static': 'always' } } },
        },
      ]);
    },
  );

  test(
    'retries failed deliveries while other runs complete and notify',
    { meta: { claims: ['agent.webhook.retries'] } },
    async () => {
      const [again, other] = [path(), path()];
      receiver.answer(again, 503, 'hang-up', 200);
      await ok('POST', '/runs/wait', { ...run, webhook: receiver.at(again) });
      expect(await ok('POST', '/runs/wait', { ...run, webhook: receiver.at(other) })).toMatchObject({
        said: 'said hi',
      });
      await received(other);
      const tries = (await received(again, 3)).map(({ body }) => webhookPayloadSchema.parse(JSON.parse(body)));
      expect(new Set(tries.map(({ run_id }) => run_id)).size).toBe(1);
      expect(receiver.to(again)).toHaveLength(3);
    },
  );

  test(
    'only an ended run has run_ended_at and calls its webhook',
    { meta: { claims: ['agent.webhook.payload.run-ended-at-omitted', 'agent.webhook.payload.run-ended-at'] } },
    async () => {
      const [at, threadId] = [path(), await thread()];
      const slow = { ...run, input: { word: 'hi', sleep_ms: 20_000 }, webhook: receiver.at(at) };
      const { run_id } = await ok('POST', `/threads/${threadId}/runs`, slow);
      const place = `/threads/${threadId}/runs/${String(run_id)}`;
      const running = await until(async () => {
        const seen = await ok('GET', place);
        return seen['status'] === 'running' ? seen : undefined;
      });
      expect(running).toMatchObject({ run_started_at: expect.stringMatching(ISO) });
      expect(running).not.toHaveProperty('run_ended_at');
      expect(receiver.to(at)).toEqual([]);
      expect(await ask('POST', `${place}/cancel?wait=true`)).toMatchObject({ status: 204 });
      const payload = await payloadAt(at);
      expect(payload.run_ended_at).toMatch(ISO);
      expect(await ok('GET', place)).toMatchObject({ run_ended_at: payload.run_ended_at });
    },
  );

  test(
    'a stateless run’s payload has every field but the values',
    {
      meta: {
        claims: [
          'agent.webhook.run-shape',
          'agent.webhook.payload.thread-id',
          'agent.webhook.payload.assistant-id',
          'agent.webhook.payload.kwargs',
          'agent.webhook.payload.values-stateful-only',
        ],
      },
    },
    async () => {
      const at = path();
      const { assistant_id } = await ok('POST', '/assistants', { graph_id: 'hook', context: { tone: 'warm' } });
      const request = { assistant_id, input: { word: 'hi' }, config: { tags: ['t'], recursion_limit: 9 } };
      await ok('POST', '/runs/wait', {
        ...request,
        context: { more: 1 },
        metadata: { m: 1 },
        webhook: receiver.at(at),
      });
      expect(await payloadAt(at)).toEqual({
        run_id: expect.stringMatching(UUID),
        thread_id: expect.stringMatching(UUID),
        assistant_id,
        status: 'success',
        created_at: expect.stringMatching(ISO),
        updated_at: expect.stringMatching(ISO),
        run_started_at: expect.stringMatching(ISO),
        run_ended_at: expect.stringMatching(ISO),
        webhook_sent_at: expect.stringMatching(ISO),
        metadata: expect.objectContaining({ m: 1, graph_id: 'hook' }),
        kwargs: expect.objectContaining({
          input: { word: 'hi' },
          config: expect.objectContaining({ tags: ['t'], recursion_limit: 9 }),
          context: { tone: 'warm', more: 1 },
          webhook: receiver.at(at),
        }),
        multitask_strategy: 'enqueue',
        error: null,
      });
    },
  );

  test.each(['/runs', '/runs/stream', '/runs/wait'])(
    'a run created at /thread/{thread_id}%s calls its webhook',
    {
      meta: {
        claims: [
          'agent.endpoints.thread-spelling-singular',
          'agent.webhook.on-create-run',
          'agent.webhook.on-stream-run',
          'agent.webhook.on-wait-run',
        ],
      },
    },
    async (way) => {
      const [at, threadId] = [path(), await thread()];
      const requested = await ask('POST', `/thread/${threadId}${way}`, { ...run, webhook: receiver.at(at) });
      expect(requested.status).toBe(200);
      expect(await payloadAt(at)).toMatchObject({
        thread_id: threadId,
        status: 'success',
        values: { said: 'said hi' },
      });
      expect((await ask('GET', `/thread/${threadId}/runs`)).body).toMatchObject([{ status: 'success' }]);
      expect(await ok('GET', `/threads/${threadId}`)).toMatchObject({ values: { said: 'said hi' } });
    },
  );

  test(
    'http.disable_webhooks sends none',
    { meta: { claims: ['agent.webhook-config.disable-webhooks'] } },
    async () => {
      const [never, control] = [path(), path()];
      await within({ webhooks: { url }, http: { disable_webhooks: true } }, async (requested) => {
        const { thread_id } = Object((await requested('POST', '/threads', {})).body);
        for (const way of ['/runs/wait', `/threads/${thread_id}/runs/wait`]) {
          const answer = await requested('POST', way, { ...run, webhook: receiver.at(never) });
          expect(answer).toMatchObject({ status: 200, body: { said: 'said hi' } });
        }
        // The other server's webhook arrives within moments; these would too.
        await ok('POST', '/runs/wait', { ...run, webhook: receiver.at(control) });
        await received(control);
      });
      expect(receiver.to(never)).toEqual([]);
    },
  );

  test(
    'a missing variable prevents startup, and the error names it',
    { meta: { claims: ['agent.webhook-config.env-missing'] } },
    async () => {
      const headers = { 'x-token': '${{ env.LG_WEBHOOK_TOKEN }}' };
      const [code, ...lines] = await whyItDoesNotStart({ webhooks: { headers, url } });
      expect([code, lines]).toEqual([
        'config-invalid',
        [expect.stringContaining('LG_WEBHOOK_TOKEN, which is not set')],
      ]);
      process.env['LG_WEBHOOK_TOKEN'] = 'set';
      const at = path();
      await within({ webhooks: { headers, url } }, async (requested) => {
        expect(await requested('POST', '/runs/wait', { ...run, webhook: receiver.at(at) })).toMatchObject({
          status: 200,
        });
        expect((await received(at))[0]?.headers).toMatchObject({ 'x-token': 'set' });
      });
    },
  );

  test(
    'by default, headers may only use variables prefixed …WEBHOOK_',
    { meta: { claims: ['agent.webhook-config.env-prefix-default', 'agent.webhook-config.env-prefix-enforced'] } },
    async () => {
      process.env['MINE_TOKEN'] = 'set all the same';
      const headers = { 'x-token': '${{ env.MINE_TOKEN }}' };
      const [code, line] = await whyItDoesNotStart({ webhooks: { headers, url } });
      expect([code, line]).toEqual([
        'config-invalid',
        expect.stringMatching(/names the variable MINE_TOKEN.*\w*WEBHOOK_/),
      ]);
      expect(line).not.toContain('set all the same');
      const at = path();
      await ok('POST', '/runs/wait', { ...run, webhook: receiver.at(at) });
      expect((await received(at))[0]?.headers).toMatchObject({ 'x-token': 'Bearer token-of-the-receiver!' });
    },
  );

  test(
    'webhooks.env_prefix replaces the default prefix',
    { meta: { claims: ['agent.webhook-config.env-prefix', 'agent.webhook-config.env-prefix-enforced'] } },
    async () => {
      process.env['MINE_TOKEN'] = 'mine';
      process.env['LG_WEBHOOK_TOKEN'] = 'set all the same';
      const webhooks = { env_prefix: 'MINE_', headers: { 'x-token': '${{ env.MINE_TOKEN }}' }, url };
      const at = path();
      await within({ webhooks }, async (requested) => {
        expect(await requested('POST', '/runs/wait', { ...run, webhook: receiver.at(at) })).toMatchObject({
          status: 200,
        });
        expect((await received(at))[0]?.headers).toMatchObject({ 'x-token': 'mine' });
      });
      const others = { ...webhooks, headers: { 'x-token': '${{ env.LG_WEBHOOK_TOKEN }}' } };
      const [code, line] = await whyItDoesNotStart({ webhooks: others });
      expect([code, line]).toEqual([
        'config-invalid',
        expect.stringMatching(/names the variable LG_WEBHOOK_TOKEN.*MINE_/),
      ]);
    },
  );
});

describe('webhook settings, over HTTP', () => {
  test.each<[string, object, RegExp]>([
    ['headers that are a list', { headers: ['x-a'] }, /`webhooks\.headers`/],
    ['a header that is a number', { headers: { 'x-a': 1 } }, /`webhooks\.headers\.x-a`/],
    ['a prefix that is a number', { env_prefix: 1 }, /`webhooks\.env_prefix`/],
    ['domains that are a string', { url: { allowed_domains: 'a.example' } }, /`webhooks\.url\.allowed_domains`/],
    ['a domain that is a number', { url: { allowed_domains: [1] } }, /`webhooks\.url\.allowed_domains\[0\]`/],
    ['require_https as a string', { url: { require_https: 'true' } }, /`webhooks\.url\.require_https`/],
    ['ports that are a number', { url: { allowed_ports: 443 } }, /`webhooks\.url\.allowed_ports`/],
    ['a port that is a string', { url: { allowed_ports: ['443'] } }, /`webhooks\.url\.allowed_ports\[0\]`/],
    ['a port that is not an integer', { url: { allowed_ports: [443.5] } }, /`webhooks\.url\.allowed_ports\[0\]`/],
    ['disable_loopback as a number', { url: { disable_loopback: 1 } }, /`webhooks\.url\.disable_loopback`/],
    ['a length as a string', { url: { max_url_length: '100' } }, /`webhooks\.url\.max_url_length`/],
    ['a length that is not an integer', { url: { max_url_length: 1.5 } }, /`webhooks\.url\.max_url_length`/],
  ])(
    'rejects %s at startup, and names its position',
    { meta: { claims: ['agent.webhook-config.types'] } },
    async (_what, webhooks, where) => {
      const [code, line] = await whyItDoesNotStart({ webhooks });
      expect([code, line]).toEqual(['config-invalid', expect.stringMatching(/^langgraph\.json:1:\d+: /)]);
      expect(line).toMatch(where);
    },
  );

  test('rejects disable_webhooks as a string', { meta: { claims: ['agent.webhook-config.types'] } }, async () => {
    const [code, line] = await whyItDoesNotStart({ http: { disable_webhooks: 'true' } });
    expect([code, line]).toEqual(['config-invalid', expect.stringContaining('`http.disable_webhooks`')]);
  });

  test(
    'starts with valid types',
    { meta: { claims: ['agent.webhook-config.types', 'agent.webhook-config.file'] } },
    async () => {
      const everything = { require_https: true, disable_loopback: false, max_url_length: 100, ...url };
      const webhooks = { headers: { 'x-a': 'b' }, env_prefix: 'MINE_', url: everything };
      const serving = await serveConfig({ webhooks, http: { disable_webhooks: false } });
      const answer = await sendTo(serving.url)('GET', '/info');
      expect(await answer.json()).toMatchObject({ flags: { webhooks: true } });
      await serving.close();
    },
  );
});
