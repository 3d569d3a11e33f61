import { silentLogger } from '../../../../src/kit/logger.ts';
import { loggerTo } from '../../../logger.ts';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import type { Clock } from '../../../../src/kit/clock.ts';
import { openStorage } from '../../../../src/services/agent/storage/open.ts';
import type { Storage } from '../../../../src/services/agent/storage/open.ts';
import { webhookDeliverer, type Deliverer } from '../../../../src/services/agent/webhooks/deliverer.ts';
import type { DelivererDependencies } from '../../../../src/services/agent/webhooks/deliverer.ts';
import { Deliveries } from '../../../../src/services/agent/webhooks/deliveries.ts';
import type { Resolve } from '../../../../src/services/agent/webhooks/send.ts';
import { webhookSettings } from '../../../../src/services/agent/webhooks/settings.ts';
import { webhookHost } from '../../../../src/services/agent/webhooks/parse-target.ts';
import type { WebhookUrlRules } from '../../../../src/contract/agent/webhook.ts';
import { isDatabaseUnavailable } from '../../../../src/kit/postgres/unavailable.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import type { TestPostgres } from '../../../kit/postgres/postgres.ts';
import { selfSigned } from '../../../faults/certificate.ts';
import { until } from '../promises/fixture.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';

const SPEED = 20;
/** Time that passes twenty times as fast: a wait of one second takes 50 ms. */
const hurried: Clock = {
  now: () => Date.now() * SPEED,
  sleep: (ms, signal) => systemClock.sleep(ms / SPEED, signal),
};

let postgres: TestPostgres;
let storage: Storage;
let receiver: Receiver;
const lines: string[] = [];
const atTheEnd: (() => Promise<unknown> | void)[] = [];
beforeAll(async () => {
  postgres = await startTestPostgres();
  storage = await openStorage(postgres.url, 'test', silentLogger);
});
beforeEach(async () => {
  lines.length = 0;
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
  await receiver.close();
  await new Deliveries(storage).deleteAll();
});
afterAll(async () => {
  await storage.close();
  await postgres.stop();
});

function rulesFor(url: WebhookUrlRules): DelivererDependencies['settings'] {
  const read = webhookSettings({ webhooks: { headers: { 'x-static': 'always' }, url } }, {}, true);
  if (!read.ok) throw new Error('the settings are wrong');
  return read.settings;
}

/** A started deliverer; stops with the test. */
function deliver(more: Partial<DelivererDependencies> = {}, url: WebhookUrlRules = {}): Deliverer {
  const deliverer = webhookDeliverer({
    deliveries: new Deliveries(storage),
    settings: rulesFor({ allowed_ports: [receiver.port], ...url }),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    fetch: () => new Response(null, { status: 404 }),
    ownHeaders: {},
    clock: hurried,
    log: loggerTo((line) => lines.push(line)),
    chance: () => 0.5,
    // Half a minute of real time: on a busy machine no attempt fails by itself.
    answerWithinMs: 600_000,
    ...more,
  });
  deliverer.begin();
  atTheEnd.push(() => deliverer.end(0));
  return deliverer;
}

let ids = 0;
/** Queues a webhook like an ended run does. @returns the run's id */
async function put(url: string, values: unknown = {}): Promise<string> {
  const id = `00000000-0000-4000-8000-${String((ids += 1)).padStart(12, '0')}`;
  const now = new Date(hurried.now());
  await storage.pool.query(
    `insert into webhook_deliveries (url, host, next_attempt_at, run_id, thread_id, assistant_id, status, metadata, kwargs,
       multitask_strategy, "values", stateless, created_at, started_at, ended_at, updated_at)
     values ($1, $2, $3, $4, $4, $4, 'success', '{}', '{}', 'enqueue', $5, false, $3, $3, $3, $3)`,
    [url, webhookHost(url), now, id, JSON.stringify(values)],
  );
  return id;
}
const left = async (): Promise<number> => {
  const { rows } = await storage.pool.query<{ count: string }>('select count(*) from webhook_deliveries');
  return Number(rows[0]?.count);
};
const nothingIsLeft = () => until(async () => ((await left()) === 0 ? true : undefined));
const received = (path: string, count = 1) =>
  until(async () => (receiver.to(path).length >= count ? receiver.to(path) : undefined));
/** Milliseconds of the accelerated clock between the received requests. */
const pauses = (path: string): number[] =>
  receiver.to(path).flatMap(({ at }, n, all) => (n === 0 ? [] : [(at - (all[n - 1]?.at ?? 0)) * SPEED]));

describe('a clock that is set back by a day', () => {
  const day = 24 * 60 * 60_000;
  let ahead = 0;
  const clock: Clock = { ...hurried, now: () => hurried.now() + ahead };
  /** Queues a webhook that was delayed by minutes before the clock was set back. */
  const putOff = async (path: string): Promise<void> => {
    const id = await put(receiver.at(path));
    await storage.pool.query('update webhook_deliveries set next_attempt_at = $2 where run_id = $1', [
      id,
      new Date(hurried.now() + day + 600_000),
    ]);
  };

  test('while the server runs delays no webhook', async () => {
    ahead = day;
    deliver({ clock, answerWithinMs: 15_000 });
    await put(receiver.at('/before'));
    await nothingIsLeft();
    await putOff('/after');
    ahead = 0;
    await nothingIsLeft();
    expect(receiver.to('/after')).toHaveLength(1);
  });

  test('while no server runs delays no webhook', async () => {
    ahead = 0;
    await putOff('/after');
    deliver({ clock, answerWithinMs: 15_000 });
    await nothingIsLeft();
    expect(receiver.to('/after')).toHaveLength(1);
  });
});

describe('a receiver', () => {
  test(
    'that fails is retried with growing delays until it succeeds',
    { meta: { claims: ['agent.webhook.retries'] } },
    async () => {
      receiver.answer('/a', 500, 'hang-up', 503, 204);
      await put(receiver.at('/a'));
      deliver();
      await nothingIsLeft();
      const [first, second, third] = pauses('/a');
      expect(receiver.to('/a')).toHaveLength(4);
      expect(first).toBeGreaterThanOrEqual(950);
      expect(second).toBeGreaterThanOrEqual(1950);
      expect(third).toBeGreaterThanOrEqual(3950);
      expect(lines).toEqual([]);
      const bodies = receiver.to('/a').map(({ body }) => Object(JSON.parse(body)));
      expect(new Set(bodies.map(({ run_id }) => run_id)).size).toBe(1);
      expect(new Set(bodies.map(({ webhook_sent_at }) => webhook_sent_at)).size).toBe(4);
    },
  );

  test('that is busy determines the delay', async () => {
    receiver.answer('/a', { status: 429, headers: { 'retry-after': '20' } }, 200);
    await put(receiver.at('/a'));
    deliver();
    await nothingIsLeft();
    expect(pauses('/a')[0]).toBeGreaterThanOrEqual(19_500);
  });

  test('that hangs is retried, and delays no other', async () => {
    receiver.answer('/hangs', 'hang', 200);
    receiver.answer('/well', 200);
    await put(receiver.at('/hangs'));
    deliver({ answerWithinMs: 5000 });
    await received('/hangs');
    await put(receiver.at('/well'));
    await received('/well');
    await nothingIsLeft();
    expect(receiver.to('/hangs')).toHaveLength(2);
  });

  test('that hangs delays no other host, however many webhooks it has', async () => {
    receiver.answer('/hangs', 'hang');
    for (let n = 0; n < 40; n += 1) await put(`http://hanging.test:${receiver.port}/hangs`);
    await put(`http://other.test:${receiver.port}/well`);
    deliver();
    await received('/well');
    expect(receiver.to('/hangs').length).toBeLessThan(16);
  });

  test('that hangs does not cause repeated queries, however many are due', async () => {
    receiver.answer('/hangs', 'hang');
    for (let n = 0; n < 40; n += 1) await put(receiver.at('/hangs'));
    let looks = 0;
    class Counted extends Deliveries {
      override claim(claim: Parameters<Deliveries['claim']>[0]): ReturnType<Deliveries['claim']> {
        looks += 1;
        return super.claim(claim);
      }
    }
    const began = Date.now();
    deliver({ deliveries: new Counted(storage), answerWithinMs: 20_000 });
    await received('/hangs', 32);
    const tries = receiver.to('/hangs').length;
    // Once for each attempt that starts or ends, and every five seconds.
    expect(looks).toBeLessThan(2 * tries + ((Date.now() - began) * SPEED) / 5000 + 10);
  });

  test('that switches protocols is disconnected', async () => {
    const talking = createServer((socket) => {
      socket.on('error', () => undefined).resume();
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    });
    talking.listen(0, '127.0.0.1');
    await once(talking, 'listening');
    atTheEnd.push(() => new Promise((resolve) => talking.close(resolve)));
    const port = Object(talking.address()).port;
    const run = await put(`http://127.0.0.1:${port}/a?token=geheim`);
    deliver({}, { allowed_ports: [port] });
    await nothingIsLeft();
    expect(lines).toEqual([`The webhook of run ${run} to 127.0.0.1 is given up: it answered 101.`]);
  });

  test('that hangs in the body of its response has accepted it', async () => {
    receiver.answer('/a', 'hang-in-body');
    await put(receiver.at('/a'));
    deliver({ answerWithinMs: 5000 });
    await nothingIsLeft();
    expect(receiver.to('/a')).toHaveLength(1);
  });

  test('with an endless response has accepted it', async () => {
    receiver.answer('/a', (_, response) => {
      response.writeHead(200);
      const more = (): void =>
        void (response.destroyed || response.write('x'.repeat(65_536), () => setImmediate(more)));
      more();
    });
    await put(receiver.at('/a'));
    deliver({ answerWithinMs: 60_000 });
    await nothingIsLeft();
    expect(receiver.to('/a')).toHaveLength(1);
  });

  test.each([301, 302, 303, 307, 308])('that responds with %i is not followed', async (status) => {
    receiver.answer('/a', { status, headers: { location: receiver.at('/redirected') } });
    const run = await put(receiver.at('/a?token=geheim'));
    deliver();
    await nothingIsLeft();
    expect(receiver.received.map(({ url }) => url)).toEqual(['/a?token=geheim']);
    expect(lines).toEqual([
      `The webhook of run ${run} to 127.0.0.1 is given up: it answered ${status}, and redirects are not followed.`,
    ]);
  });

  test.each([400, 401, 403, 404, 410, 422])('that responds with %i has rejected it', async (status) => {
    receiver.answer('/geheim', status);
    const run = await put(receiver.at('/geheim?token=geheim'));
    deliver();
    await nothingIsLeft();
    expect(receiver.received).toHaveLength(1);
    expect(lines).toEqual([`The webhook of run ${run} to 127.0.0.1 is given up: it answered ${status}.`]);
  });

  test('that is down gets it once it is up', async () => {
    await receiver.close();
    const { port } = receiver;
    await put(`http://127.0.0.1:${port}/a`);
    deliver({}, { allowed_ports: [port] });
    await until(async () => {
      const { rows } = await storage.pool.query<{ attempts: number }>('select attempts from webhook_deliveries');
      return (rows[0]?.attempts ?? 0) >= 2 ? true : undefined;
    });
    receiver = await startReceiver(undefined, port);
    await nothingIsLeft();
    expect(receiver.to('/a')).toHaveLength(1);
  });

  test('that does not use HTTP fails after the last attempt', async () => {
    const talking = createServer((socket) => {
      socket.on('error', () => undefined).resume();
      socket.end('220 mail.test ready\r\n');
    });
    talking.listen(0, '127.0.0.1');
    await once(talking, 'listening');
    atTheEnd.push(() => new Promise((resolve) => talking.close(resolve)));
    const port = Object(talking.address()).port;
    const run = await put(`http://127.0.0.1:${port}/a?token=geheim`);
    await storage.pool.query('update webhook_deliveries set attempts = 13');
    deliver({}, { allowed_ports: [port] });
    await nothingIsLeft();
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(
          `^The webhook of run ${run} to 127.0.0.1 is given up: it could not be reached \\(HPE_\\w+\\), at the last of 14`,
        ),
      ),
    ]);
  });

  test('gets a large state complete', async () => {
    const text = 'ä'.repeat(4_000_000);
    await put(receiver.at('/a'), { text });
    deliver();
    await nothingIsLeft();
    const [request] = receiver.to('/a');
    expect(Object(JSON.parse(request?.body ?? '')).values).toEqual({ text });
    expect(Number(request?.headers['content-length'])).toBe(Buffer.byteLength(request?.body ?? ''));
  });
});

describe('the addresses of a name', () => {
  const named = (path = '/a') => `http://hooks.example.com:${receiver.port}${path}`;
  /** Without the operator's option: only what the configuration file allows. */
  const strict = (url: WebhookUrlRules = {}): Partial<DelivererDependencies> => {
    const read = webhookSettings({ webhooks: { url: { allowed_ports: [receiver.port], ...url } } }, {}, false);
    if (!read.ok) throw new Error('the settings are wrong');
    return { settings: read.settings };
  };
  const leadsTo =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  test('are connected to, with the name as the host', async () => {
    await put(named());
    deliver({ resolve: leadsTo('127.0.0.1') });
    await nothingIsLeft();
    expect(receiver.to('/a')[0]?.headers.host).toBe(`hooks.example.com:${receiver.port}`);
  });

  test.each([
    ['loopback', ['127.0.0.1']],
    ['loopback over IPv6', ['::1']],
    ['loopback mapped into IPv6', ['::ffff:127.0.0.1']],
    ['a private network', ['10.1.2.3']],
    ['a public address and a private one', ['8.8.8.8', '192.168.1.1']],
  ])('are rejected if %s, even for an allowed domain', async (_, addresses) => {
    const run = await put(named('/a?token=geheim'));
    deliver({ ...strict({ allowed_domains: ['hooks.example.com'] }), resolve: leadsTo(...addresses) });
    await nothingIsLeft();
    expect(receiver.received).toEqual([]);
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(`^The webhook of run ${run} to hooks.example.com is given up: it leads to a private network`),
      ),
    ]);
  });

  test.each([
    ['169.254.169.254'],
    ['::ffff:169.254.169.254'],
    ['0.0.0.0'],
    ['fe80::1%lo'],
    ['fd00:ec2::254'],
    ['nonsense'],
  ])('are rejected if %s, whatever the operator allows', async (address) => {
    await put(named());
    deliver({ resolve: leadsTo('127.0.0.1', address) });
    await nothingIsLeft();
    expect(receiver.received).toEqual([]);
    expect(lines).toEqual([expect.stringContaining('leads to a network that no webhook may go to')]);
  });

  test('are resolved once per attempt, so a later change has no effect', async () => {
    const answers = ['127.0.0.1', '169.254.169.254', '169.254.169.254'];
    const resolve = vi.fn<Resolve>(async () => leadsTo(answers.shift() ?? '')());
    await put(named());
    deliver({ resolve });
    await nothingIsLeft();
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(receiver.to('/a')).toHaveLength(1);
  });

  test('are checked again at each attempt', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    receiver.answer('/a', 500);
    await put(named());
    deliver({ resolve: async () => leadsTo(answers.shift() ?? '')() });
    await nothingIsLeft();
    expect(receiver.to('/a')).toHaveLength(1);
    expect(lines).toEqual([expect.stringContaining('no webhook may go to')]);
  });

  test('may be missing or slow at first', async () => {
    const answers = [
      () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })),
      leadsTo(),
      () => new Promise<never>(() => undefined),
      leadsTo('127.0.0.1'),
    ];
    await put(named());
    deliver({ resolve: async () => (answers.shift() ?? leadsTo('127.0.0.1'))(), answerWithinMs: 15_000 });
    await nothingIsLeft();
    expect(answers).toEqual([]);
    expect(receiver.to('/a').length).toBeGreaterThan(0);
  });

  test('the URL is checked again when sent, by the current configuration', async () => {
    const run = await put(receiver.at('/a'));
    deliver({}, { allowed_domains: ['hooks.example.com'] });
    await nothingIsLeft();
    expect(receiver.received).toEqual([]);
    expect(lines).toEqual([
      expect.stringContaining(`${run} to 127.0.0.1 is given up: it names a host that is not among`),
    ]);
  });
});

describe('over TLS', () => {
  test('requires a certificate for the name from a trusted issuer', async () => {
    const certificate = selfSigned('hooks.example.com');
    const secure = await startReceiver(certificate);
    atTheEnd.push(() => secure.close());
    const [fine, wrong] = ['hooks', 'other'].map((name) => `https://${name}.example.com:${secure.port}/${name}`);
    await put(fine ?? '');
    const before = getCACertificates('default');
    atTheEnd.push(() => setDefaultCACertificates(before));
    deliver({}, { allowed_ports: [secure.port], require_https: true });
    await until(async () => {
      const { rows } = await storage.pool.query<{ attempts: number }>('select attempts from webhook_deliveries');
      return (rows[0]?.attempts ?? 0) >= 2 ? true : undefined;
    });
    expect(secure.received).toEqual([]);
    setDefaultCACertificates([...before, certificate.cert]);
    await nothingIsLeft();
    expect(secure.to('/hooks')).toHaveLength(1);
    await put(wrong ?? '');
    await storage.pool.query('update webhook_deliveries set attempts = 13');
    await nothingIsLeft();
    expect(secure.to('/other')).toEqual([]);
    expect(lines).toEqual([expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID')]);
  });
});

describe('several processes', () => {
  test('two deliver each webhook once', async () => {
    for (let n = 0; n < 60; n += 1) await put(receiver.at(`/n-${n}`));
    deliver();
    deliver();
    await nothingIsLeft();
    const paths = receiver.received.map(({ url }) => url);
    expect([paths.length, new Set(paths).size]).toEqual([60, 60]);
  });

  test('the next one delivers what a killed one had claimed', async () => {
    await put(receiver.at('/a'));
    const killed = new Deliveries(storage);
    expect(await killed.claim({ now: hurried.now(), forMs: 5000, limit: 8, notTo: [] })).toHaveLength(1);
    const since = Date.now();
    deliver();
    await nothingIsLeft();
    expect((Date.now() - since) * SPEED).toBeGreaterThanOrEqual(4900);
    expect(receiver.to('/a')).toHaveLength(1);
  });

  test('a stopping one returns its claims without counting an attempt', async () => {
    receiver.answer('/a', 'hang', 200);
    await put(receiver.at('/a'));
    const leaving = deliver();
    await received('/a');
    await leaving.end(100);
    const { rows } = await storage.pool.query<{ attempts: number }>('select attempts from webhook_deliveries');
    expect(rows).toEqual([{ attempts: 0 }]);
    deliver();
    await nothingIsLeft();
    expect(receiver.to('/a')).toHaveLength(2);
  });

  test('a stopping one delivers what has just ended', async () => {
    const leaving = deliver();
    await put(receiver.at('/a'));
    await leaving.end(100_000);
    expect(receiver.to('/a')).toHaveLength(1);
    expect(await left()).toBe(0);
  });

  test('one presumed dead can’t delay what another one delivers', async () => {
    const deliveries = new Deliveries(storage);
    await put(receiver.at('/a'));
    const now = hurried.now();
    const [early] = await deliveries.claim({ now, forMs: 10, limit: 1, notTo: [] });
    const [late] = await deliveries.claim({ now: now + 20, forMs: 10, limit: 1, notTo: [] });
    if (!early || !late) throw new Error('nothing was claimed');
    const last = { at: now, status: 503, reason: 'answered 503' };
    await deliveries.putOff(early, now + 1e6, last);
    expect(await deliveries.nextAfter(now)).toBe(now + 30);
    await deliveries.putOff(late, now + 1e6, last);
    expect(await deliveries.nextAfter(now)).toBe(now + 1e6);
  });
});

describe('the history', () => {
  test('keeps the newest thousand for seven days', async () => {
    const deliveries = new Deliveries(storage);
    const day = 24 * 60 * 60_000;
    const settle = async (at: number) => {
      await put(receiver.at('/a'));
      const [claimed] = await deliveries.claim({ now: hurried.now(), forMs: 10, limit: 1, notTo: [] });
      if (!claimed) throw new Error('nothing was claimed');
      await deliveries.settle(claimed, 'delivered', { at, status: 200, reason: undefined });
      return claimed.run_id;
    };
    const count = async () => (await storage.pool.query('select from webhook_history')).rowCount;
    const all = { state: undefined, runId: undefined, limit: 10, offset: 0 };
    const old = await settle(1e12);
    expect((await deliveries.list({ ...all, now: 1e12 })).map(({ run_id }) => run_id)).toEqual([old]);
    expect(await deliveries.list({ ...all, now: 1e12 + 8 * day })).toEqual([]);
    expect(await deliveries.retry(old, 1e12 + 8 * day)).toBe(false);
    await settle(1e12 + 8 * day);
    expect(await count()).toBe(1);
    for (let n = 0; n < 1001; n += 1) await settle(1e12 + 8 * day + n);
    await settle(1e12 + 8 * day + 5000);
    expect(await count()).toBe(1000);
  });
});

test('an expired claim does not settle the delivery of the process that claimed it next', async () => {
  const deliveries = new Deliveries(storage);
  await put(receiver.at('/twice'));
  const now = hurried.now();
  const [first] = await deliveries.claim({ now, forMs: 10, limit: 1, notTo: [] });
  const [second] = await deliveries.claim({ now: now + 10, forMs: 10, limit: 1, notTo: [] });
  if (!first || !second) throw new Error('nothing was claimed');
  const last = { at: now, status: 404, reason: 'answered 404' };
  await deliveries.settle(first, 'failed', last);
  expect(await deliveries.isPending(first.run_id)).toBe(true);
  await deliveries.settle(second, 'delivered', last);
  expect(await deliveries.isPending(first.run_id)).toBe(false);
});

test('the history keeps no large payload, and sends none again without it', async () => {
  const deliveries = new Deliveries(storage);
  await put(receiver.at('/large'));
  await storage.pool.query('update webhook_deliveries set "values" = $1', [JSON.stringify({ a: 'x'.repeat(70_000) })]);
  const now = hurried.now();
  const [claimed] = await deliveries.claim({ now, forMs: 10, limit: 1, notTo: [] });
  if (!claimed) throw new Error('nothing was claimed');
  await deliveries.settle(claimed, 'failed', { at: now, status: 404, reason: 'answered 404' });
  const { rows } = await storage.pool.query('select "values" from webhook_history where run_id = $1', [claimed.run_id]);
  expect(rows).toEqual([{ values: null }]);
  expect(await deliveries.retry(claimed.run_id, now)).toBe(false);
  expect(await deliveries.isCut(claimed.run_id)).toBe(true);
});

describe('a path of the server itself', () => {
  test('is called in process, with the server’s own headers', async () => {
    const requested: Request[] = [];
    await put('/threads/search?a=b');
    deliver({
      ownHeaders: { 'x-own': 'token' },
      fetch: async (request) => {
        requested.push(request);
        return new Response('[]');
      },
    });
    await nothingIsLeft();
    const [request] = requested;
    expect(request?.method).toBe('POST');
    expect(new URL(request?.url ?? '').pathname).toBe('/threads/search');
    expect(Object.fromEntries(request?.headers ?? [])).toEqual({
      'content-type': 'application/json',
      'webhook-id': expect.any(String),
      'x-own': 'token',
      'x-static': 'always',
    });
    expect(await request?.json()).toMatchObject({ status: 'success' });
  });

  test('is retried if unavailable, and given up if rejected', async () => {
    const answers = [503, 422];
    await put('/runs');
    deliver({ fetch: () => new Response(null, { status: answers.shift() ?? 200 }) });
    await nothingIsLeft();
    expect(lines).toEqual([expect.stringContaining('to the server itself is given up: it answered 422.')]);
  });

  test('is cancelled at the time limit if its response does not end', async () => {
    const cancelled = vi.fn<() => void>();
    await put('/runs/stream');
    deliver({
      answerWithinMs: 2000,
      fetch: () => new Response(new ReadableStream({ cancel: cancelled })),
    });
    await nothingIsLeft();
    expect(cancelled).toHaveBeenCalledTimes(1);
    expect(lines).toEqual([]);
  });
});

test('loses nothing while the database is unavailable', async () => {
  receiver.answer('/a', (_, response) => {
    void storage.pool
      .query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'landfall-agent test'")
      .catch(() => undefined)
      .then(() => response.end());
  });
  await put(receiver.at('/a'));
  deliver();
  // This query uses the same connections.
  const unlessAway = (error: unknown): number => {
    if (isDatabaseUnavailable(error)) return 1;
    throw error;
  };
  await until(async () => ((await left().catch(unlessAway)) === 0 ? true : undefined));
  expect(receiver.to('/a').length).toBeGreaterThanOrEqual(1);
  expect(lines).toEqual([]);
});
