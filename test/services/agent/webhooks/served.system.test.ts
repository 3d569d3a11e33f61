import { loggerTo } from '../../../logger.ts';
import { silentLogger, type Logger } from '../../../../src/kit/logger.ts';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startAgentServer } from '../../../../src/services/agent/server.ts';
import type { AgentServerOptions } from '../../../../src/services/agent/server-instance.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { connectAgentServer } from '../../../../src/client/agent.ts';
import type { AgentServerClient } from '../../../../src/client/agent.ts';
import { refusalOf, until } from '../promises/fixture.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { hookedAgent } from './hooked-agent.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

const atTheEnd: (() => Promise<unknown> | void)[] = [];
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});
afterAll(() => receiver.close());

type Served = Serving & { agent: AgentServerClient };

/** Serves the agent with these settings until the test ends. */
async function serve(config: object, options: Partial<AgentServerOptions> = {}, end = atTheEnd): Promise<Served> {
  const folder = hookedAgent(config);
  end.push(() => folder.remove());
  const serving = await serveAgent({ configPath: folder.configPath, ...options });
  const agent = connectAgentServer({ url: serving.url, userAgent: 'landfall-tests' });
  end.push(
    () => serving.close(),
    () => agent.close(),
  );
  return { ...serving, agent };
}

/** Serves the agent for the surrounding tests. */
function given(config: () => object, options: Partial<AgentServerOptions> = {}): () => Served {
  const after: (() => Promise<unknown> | void)[] = [];
  let served: Served | undefined;
  beforeAll(async () => {
    served = await serve(config(), options, after);
  });
  afterAll(async () => {
    for (const end of after.splice(0).reverse()) await end();
  });
  return () => {
    if (!served) throw new Error('Nothing is served.');
    return served;
  };
}

/** Another server on an existing database. */
const startBeside = (configPath: string, databaseUrl: string, log: Logger) =>
  startAgentServer({ configPath, databaseUrl, host: '127.0.0.1', port: 0, clock: systemClock, drainMs: 0, log });

const run = { assistant_id: 'hook', input: { word: 'hi' } };
const local = (url = {}) => ({
  webhooks: { url: { allowed_domains: ['127.0.0.1'], allowed_ports: [receiver.port], ...url } },
});

describe('startup', () => {
  const start = async (config: object): Promise<string[]> => {
    const folder = hookedAgent(config);
    try {
      await startAgentServer({
        configPath: folder.configPath,
        databaseUrl: 'postgres://nouser@127.0.0.1:1/none',
        host: '127.0.0.1',
        port: 0,
        clock: systemClock,
        log: silentLogger,
      });
      return [];
    } catch (error) {
      return [Object(error).code, ...Object(error).lines];
    } finally {
      folder.remove();
    }
  };

  test(
    'fails for a missing variable, with its name and line',
    { meta: { claims: ['agent.webhook-config.env-missing'] } },
    async () => {
      const headers = { a: 'x', b: '${{ env.LG_WEBHOOK_NOT_SET }}', c: '${{ env.LG_WEBHOOK_NEITHER }}' };
      const [code, ...lines] = await start({ webhooks: { headers } });
      expect(code).toBe('config-invalid');
      expect(lines).toEqual([
        expect.stringMatching(
          /^langgraph\.json:1:\d+: the header b names the variable LG_WEBHOOK_NOT_SET, which is not set/,
        ),
        expect.stringMatching(/^langgraph\.json:1:\d+: the header c names the variable LG_WEBHOOK_NEITHER/),
      ]);
    },
  );

  eachClaim<readonly [string, object, string]>([
    [
      'agent.webhook-config.env-prefix-enforced',
      'a variable without the prefix',
      { headers: { a: '${{ env.HOME }}' } },
      'names the variable HOME',
    ],
    [
      '',
      'an address that no webhook may use',
      { url: { allowed_domains: ['169.254.169.254'] } },
      'a network that no webhook may go to',
    ],
    ['', 'an unknown key', { url: { allow_domains: [] } }, 'did you mean `allowed_domains`'],
  ])('rejects %s', {}, async (_, webhooks, words) => {
    const [code, line] = await start({ webhooks });
    expect([code, line]).toEqual(['config-invalid', expect.stringContaining(words)]);
  });
});

describe('a path of the server itself', () => {
  test(
    'is called in process with the server’s own token',
    { meta: { claims: ['agent.webhook-config.relative-url'] } },
    async () => {
      const { url } = await serve({}, { token: 'token-of-the-gateway' });
      const ask = async (path: string, body?: object) => {
        const headers = { 'x-landfall-agent-token': 'token-of-the-gateway' };
        const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
        const answer = await fetch(`${url}${path}`, init);
        expect(answer.status).toBe(200);
        return Object(await answer.json());
      };
      const { thread_id } = await ask('/threads', {});
      await ask('/runs/wait', { ...run, webhook: `/threads/${thread_id}/runs` });
      // It received the body of a run, which ran its assistant on the other thread.
      const runs = await until(async () => {
        const seen = await ask(`/threads/${thread_id}/runs`);
        return seen.length > 0 ? seen : undefined;
      });
      expect(runs).toMatchObject([{ thread_id, metadata: { graph_id: 'hook' } }]);
    },
  );
});

test(
  'http.disable_webhooks still validates webhooks, but sends none',
  { meta: { claims: ['agent.webhook-config.disable-webhooks', 'agent.webhook-config.disable-loopback'] } },
  async () => {
    const config = { ...local({ disable_loopback: true }), http: { disable_webhooks: true } };
    const { agent, databaseUrl, lines } = await serve(config);
    const refused = await refusalOf(agent.createRun({ ...run, webhook: '/threads' }, undefined));
    expect(refused.problems).toMatchObject([
      { loc: ['body', 'webhook'], msg: expect.stringContaining('disable_loopback') },
    ]);
    receiver.answer('/off', 200);
    await agent.waitRun({ ...run, webhook: receiver.at('/off?token=geheim') }, undefined);
    await agent.waitRun(
      { ...run, webhook: receiver.at('/off?token=geheim') },
      (await agent.createThread({})).thread_id,
    );
    expect((await agent.info()).flags).toMatchObject({ webhooks: false });
    const reported = lines.filter((line) => line.includes('disable_webhooks'));
    expect(reported).toHaveLength(1);
    expect(reported.join()).not.toContain('geheim');
    // A revision that sends webhooks finds none on the same database.
    const sending = hookedAgent(local());
    atTheEnd.push(() => sending.remove());
    const other = await startBeside(sending.configPath, databaseUrl, silentLogger);
    await other.close();
    expect(receiver.to('/off')).toEqual([]);
  },
);

test(
  'reports a run that exceeds its time limit',
  { meta: { claims: ['agent.webhook.payload.error-type'] } },
  async () => {
    const { agent } = await serve(local(), { runLimitMs: 300 });
    const { thread_id } = await agent.createThread({});
    const slow = { ...run, input: { word: 'hi', sleep_ms: 20_000 } };
    for (const [path, threadId] of [
      ['/late', thread_id],
      ['/late-stateless', undefined],
    ] as const) {
      await agent.waitRun({ ...slow, webhook: receiver.at(path) }, threadId);
      const [request] = await until(async () => (receiver.to(path).length > 0 ? receiver.to(path) : undefined));
      expect(JSON.parse(request?.body ?? '')).toMatchObject({
        status: 'timeout',
        error: { error: expect.stringMatching(/timeout/i), message: expect.stringMatching(/\S/) },
      });
    }
  },
);

describe('one server', () => {
  const shared = given(() => local());

  test('delivers the webhooks of the public client', async () => {
    const { url } = shared();
    const client = new Client({ apiUrl: url, apiKey: null });
    const { thread_id } = await client.threads.create();
    const payload = { input: { word: 'hi' }, webhook: receiver.at('/sdk?token=t') };
    await client.runs.wait(thread_id, 'hook', payload);
    await client.runs.create(thread_id, 'hook', payload);
    await client.runs.wait(null, 'hook', payload);
    for await (const { event } of client.runs.stream(null, 'hook', payload)) expect(event).toMatch(/metadata|values/);
    await until(async () => (receiver.to('/sdk').length === 4 ? true : undefined));
    await expect(client.runs.wait(null, 'hook', { ...payload, webhook: 'nonsense' })).rejects.toThrow('422');
  });

  test('rejects a batch if one webhook is invalid', async () => {
    const { url } = shared();
    const body = JSON.stringify([
      { ...run, webhook: receiver.at('/batch') },
      { ...run, webhook: 'nonsense' },
    ]);
    const answer = await fetch(`${url}/runs/batch`, { method: 'POST', body });
    expect([answer.status, await answer.json()]).toMatchObject([422, { detail: [{ loc: ['body', 1, 'webhook'] }] }]);
    expect(receiver.to('/batch')).toEqual([]);
  });

  test('delivers characters that a database can’t store unchanged', async () => {
    const { agent } = shared();
    const { thread_id } = await agent.createThread({});
    const word = 'nul \u0000 and half a pair \ud83d';
    await agent.waitRun({ ...run, input: { word }, webhook: receiver.at('/odd'), metadata: { word } }, thread_id);
    const [request] = await until(async () => (receiver.to('/odd').length > 0 ? receiver.to('/odd') : undefined));
    const payload: unknown = JSON.parse(request?.body ?? '');
    expect(payload).toMatchObject({ values: { word }, kwargs: { input: { word } } });
  });

  test('drops undelivered webhooks if they are disabled', async () => {
    receiver.answer('/left', 500);
    const sending = shared();
    await sending.agent.waitRun({ ...run, webhook: receiver.at('/left') }, undefined);
    await until(async () => (receiver.to('/left').length > 0 ? true : undefined));
    const off = hookedAgent({ ...local(), http: { disable_webhooks: true } });
    atTheEnd.push(() => off.remove());
    const lines: string[] = [];
    const other = await startBeside(
      off.configPath,
      sending.databaseUrl,
      loggerTo((line) => lines.push(line)),
    );
    await other.close();
    expect(lines).toContain('Dropped 1 undelivered webhooks: http.disable_webhooks is set.');
  });
});

describe('with private networks allowed by the operator', () => {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const named = () => ({ webhooks: { url: { allowed_ports: [receiver.port] } } });
  const open = given(named, { webhooks: { resolve, privateNetworks: true } });

  test('uses the given resolver, and allows private addresses', async () => {
    const webhook = `http://hooks.example.com:${receiver.port}/named`;
    const closed = await serve(named(), { webhooks: { resolve } });
    await closed.agent.waitRun({ ...run, webhook }, undefined);
    await until(async () => closed.lines.find((line) => line.includes('hooks.example.com is given up')));
    expect(receiver.to('/named')).toEqual([]);
    await open().agent.waitRun({ ...run, webhook }, undefined);
    await until(async () => (receiver.to('/named').length === 1 ? true : undefined));
  });

  test(
    'failing receivers delay no run, and no webhook to another host',
    { meta: { claims: ['agent.webhook.retries'] } },
    async () => {
      const { agent } = open();
      receiver.answer('/hangs', 'hang');
      receiver.answer('/dies', 'hang-up');
      const webhooks = ['hangs', 'dies'].map((name) => `http://${name}.example.com:${receiver.port}/${name}`);
      const runs = Array.from({ length: 30 }, (_, n) =>
        agent.waitRun({ ...run, webhook: webhooks[n % 2] ?? '' }, undefined),
      );
      for (const result of await Promise.all(runs)) expect(result).toMatchObject({ values: { said: 'said hi' } });
      await agent.waitRun({ ...run, webhook: `http://well.example.com:${receiver.port}/well` }, undefined);
      await until(async () => (receiver.to('/well').length === 1 ? true : undefined));
      expect(receiver.to('/hangs').length).toBeGreaterThan(0);
      await agent.ok();
    },
  );
});
