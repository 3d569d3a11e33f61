import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askAt } from '../ask.ts';
import type { Ask } from '../ask.ts';
import { serveConfig } from './serve-config.ts';
import type { Serving } from '../serving.ts';

/** Which option a rejected webhook's error names; `accepted` if accepted. */
const outcome = (isTaken: boolean, words: RegExp): RegExp => (isTaken ? /^accepted$/ : words);

/** The documented paths that accept a webhook; `:thread` stands for a thread's id. */
const OPERATIONS = [
  '/thread/:thread/runs',
  '/thread/:thread/runs/crons',
  '/thread/:thread/runs/stream',
  '/thread/:thread/runs/wait',
  '/runs/crons',
  '/runs/stream',
  '/runs/wait',
] as const;
const spelled = OPERATIONS.flatMap((path) =>
  path.startsWith('/thread/') ? [path, path.replace('/thread/', '/threads/')] : [path],
);

const strict = {
  allowed_domains: ['hooks.example.com', '*.partner.example'],
  require_https: true,
  allowed_ports: [8443, 443],
  disable_loopback: true,
  max_url_length: 60,
};
const fine = 'https://hooks.example.com:8443/in?token=t';

const servers: { plain?: Serving; strict?: Serving; ports?: Serving } = {};
beforeAll(async () => {
  servers.plain = await serveConfig({});
  servers.strict = await serveConfig({ webhooks: { url: strict } });
  servers.ports = await serveConfig({ webhooks: { url: { allowed_ports: [8443] } } });
});
afterAll(async () => {
  for (const serving of Object.values(servers)) await serving.close();
});

describe('the options of webhooks, over HTTP', () => {
  let interrupts: Record<'plain' | 'strict' | 'ports', Ask>;
  beforeAll(() => {
    const { plain, strict: tight, ports } = servers;
    if (!plain || !tight || !ports) throw new Error('Three servers were started.');
    interrupts = { plain: askAt(plain.url), strict: askAt(tight.url), ports: askAt(ports.url) };
  });

  /** The outcome for a delayed run, so that nothing is sent: `accepted`, or the option that rejects its webhook. */
  const judged = async (server: keyof typeof interrupts, webhook: string): Promise<string> => {
    const ask = interrupts[server];
    const { thread_id } = Object((await ask('POST', '/threads', {})).body);
    const run = { assistant_id: 'hook', input: { word: 'hi' }, after_seconds: 3600, webhook };
    const answer = await ask('POST', `/threads/${thread_id}/runs`, run);
    if (answer.status === 200) {
      expect(answer.body).toMatchObject({ status: 'pending', kwargs: { webhook } });
      return 'accepted';
    }
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'webhook'] }] } });
    expect((await ask('GET', `/threads/${thread_id}/runs`)).body).toEqual([]);
    return String(Object(answer.body).detail[0].msg);
  };

  test.each([
    ['https://hooks.example.com/', true],
    ['https://hooks.example.com:443/', true],
    ['http://hooks.example.com/', true],
    ['http://hooks.example.com:80/', true],
    ['https://hooks.example.com:8443/', false],
    ['https://hooks.example.com:80/', false],
    ['http://hooks.example.com:443/', false],
    ['http://hooks.example.com:8080/', false],
  ])(
    'without options, accepts %s: %s',
    { meta: { claims: ['agent.webhook-config.allowed-ports-default', 'agent.limits.webhook-ports'] } },
    async (webhook, taken) => {
      expect(await judged('plain', webhook)).toMatch(outcome(taken, /port.*443.*80|443.*80.*port/));
    },
  );

  test.each([
    ['https://hooks.example.com:8443/', true],
    ['http://hooks.example.com:8443/', true],
    ['https://hooks.example.com/', false],
    ['http://hooks.example.com/', false],
    ['https://hooks.example.com:8444/', false],
  ])(
    'with allowed_ports [8443], accepts %s: %s',
    { meta: { claims: ['agent.webhook-config.allowed-ports'] } },
    async (webhook, taken) => {
      expect(await judged('ports', webhook)).toMatch(outcome(taken, /allowed_ports/));
    },
  );

  test.each([
    ['hooks.example.com', 'https://hooks.example.com/', true],
    ['another host', 'https://other.example.com/', false],
    ['a subdomain', 'https://a.hooks.example.com/', false],
  ])(
    'allowed_domains accepts %s (%s): %s',
    { meta: { claims: ['agent.webhook-config.allowed-domains'] } },
    async (_host, webhook, taken) => {
      expect(await judged('strict', webhook)).toMatch(outcome(taken, /allowed_domains/));
    },
  );

  test.each([
    ['a subdomain', 'https://a.partner.example/', true],
    ['a deeper subdomain', 'https://a.b.partner.example/', true],
    ['the domain itself', 'https://partner.example/', false],
    ['a similar suffix', 'https://notpartner.example/', false],
  ])(
    'a wildcard accepts %s (%s): %s',
    { meta: { claims: ['agent.webhook-config.allowed-domains-wildcard'] } },
    async (_name, webhook, taken) => {
      expect(await judged('strict', webhook)).toMatch(outcome(taken, /allowed_domains/));
    },
  );

  test(
    'require_https rejects a plain http URL',
    { meta: { claims: ['agent.webhook-config.require-https'] } },
    async () => {
      expect(await judged('strict', fine)).toBe('accepted');
      expect(await judged('strict', fine.replace('https:', 'http:'))).toContain('require_https');
      expect(await judged('ports', fine.replace('https:', 'http:'))).toBe('accepted');
    },
  );

  test(
    'disable_loopback rejects a relative URL',
    { meta: { claims: ['agent.webhook-config.disable-loopback', 'agent.webhook-config.relative-url'] } },
    async () => {
      expect(await judged('strict', '/threads/search')).toContain('disable_loopback');
      expect(await judged('plain', '/threads/search')).toBe('accepted');
    },
  );

  test(
    'accepts max_url_length characters, and rejects one more',
    { meta: { claims: ['agent.webhook-config.max-url-length', 'agent.limits.webhook-url-length'] } },
    async () => {
      const long = fine.padEnd(60, 'x');
      expect([long.length, await judged('strict', long)]).toEqual([60, 'accepted']);
      expect(await judged('strict', `${long}x`)).toContain('60 characters');
      expect(await judged('ports', `${long}x`)).toBe('accepted');
    },
  );

  test.each(spelled)(
    '%s rejects a webhook that breaks the options, and starts nothing',
    { meta: { claims: ['agent.errors.webhook-url-refused'] } },
    async (path) => {
      const ask = interrupts.strict;
      const { thread_id } = Object((await ask('POST', '/threads', {})).body);
      const mark = { mark: crypto.randomUUID() };
      const body = { assistant_id: 'hook', input: { word: 'hi' }, metadata: mark, schedule: '@daily' };
      const webhook = 'https://other.example.com/?token=geheim';
      const answer = await ask('POST', path.replace(':thread', thread_id), { ...body, webhook });
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'webhook'] }] } });
      expect(JSON.stringify(answer.body)).not.toContain('geheim');
      expect((await ask('GET', `/threads/${thread_id}/runs`)).body).toEqual([]);
      expect((await ask('POST', '/runs/crons/count', { metadata: mark })).body).toBe(0);
      expect((await ask('POST', '/threads/count', { metadata: mark })).body).toBe(0);
    },
  );
});
