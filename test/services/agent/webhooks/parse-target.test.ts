import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseWebhookTarget } from '../../../../src/services/agent/webhooks/parse-target.ts';
import { networkOf } from '../../../../src/services/agent/webhooks/address.ts';
import { webhookSettings } from '../../../../src/services/agent/webhooks/settings.ts';
import type { UrlRules } from '../../../../src/services/agent/webhooks/settings.ts';
import type { WebhookUrlRules } from '../../../../src/contract/agent/webhook.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

/** The rules of a configuration file. */
function rules(url: WebhookUrlRules = {}, privateNetworks = false): UrlRules {
  const read = webhookSettings({ webhooks: { url } }, {}, privateNetworks);
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join());
  return read.settings.rules;
}

const judged = (text: string, url?: WebhookUrlRules, privateNetworks?: boolean): string => {
  const judgement = parseWebhookTarget(text, rules(url, privateNetworks));
  return judgement.kind === 'refused' ? judgement.why : judgement.kind;
};

describe('without options', () => {
  test.each([
    ['https://hooks.example.com/a?token=t', 'outside'],
    ['http://hooks.example.com', 'outside'],
    ['HTTPS://HOOKS.EXAMPLE.COM/', 'outside'],
    ['https://hooks.example.com./', 'outside'],
    ['https://bücher.example/', 'outside'],
    ['https://8.8.8.8/', 'outside'],
    ['https://[2606:4700:4700::1111]/', 'outside'],
    ['/runs', 'itself'],
    ['/assistants/search?a=b#c', 'itself'],
    ['/..//hooks.example.com', 'itself'],
  ])('accepts %s', (text, kind) => expect(judged(text)).toBe(kind));

  test.each([
    ['not a url', /space/],
    ['notaurl', /must be an address/],
    ['', /must be an address/],
    ['ftp://hooks.example.com/', /must be an address/],
    ['file:///etc/passwd', /must be an address/],
    ['javascript:alert(1)', /must be an address/],
    ['http:hooks.example.com', /must be an address/],
    ['http:///hooks.example.com', /must be an address/],
    ['https://', /must be an address/],
    ['//hooks.example.com/', /must be an address/],
    ['/\\hooks.example.com/', /backslash/],
    ['https:\\\\hooks.example.com', /backslash/],
    ['https://hooks.example.com\\@127.0.0.1/', /backslash/],
    [' https://hooks.example.com', /space/],
    ['https://hooks.example.com/\n', /control/],
    ['https://hooks.exa\tmple.com/', /control/],
    ['https://hooks.example.com/\u2028', /space/],
    ['https://someone@hooks.example.com/', /name or password/],
    ['https://someone:secret@hooks.example.com/', /name or password/],
    ['https://:@127.0.0.1/', /private/],
    ['https://hooks..example.com/', /host/],
    ['https://hooks.example.com../', /host/],
    ['https://hooks.example.com:99999/', /must be an address/],
    ['https://1.2.3.4.5/', /must be an address/],
  ])('rejects %j with a reason', (text, why) => {
    expect(judged(text)).toMatch(why);
  });
});

describe('rejects a private address in any spelling', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.0.0.1./',
    'http://%31%32%37.0.0.1/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127。0。0。1/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://some.localhost/',
    'http://10.0.0.1/',
    'http://192.168.0.1/',
    'http://172.20.1.1/',
    'http://100.64.1.1/',
    'http://[fd00::1]/',
  ])('%s', (text) => expect(judged(text)).toMatch(/^leads to a private network/));

  test.each([
    'http://0.0.0.0/',
    'http://0/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://[::ffff:169.254.169.254]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://[::]/',
    'http://[::127.0.0.1]/',
    'http://100.100.100.200/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
  ])('%s, whatever the operator allows', (text) => {
    const host = new URL(text).hostname;
    expect(judged(text, {}, true)).toMatch(/^leads to a network that no webhook may go to/);
    expect(() => judged(text, { allowed_domains: [host] })).toThrow('no webhook may go to');
  });

  test('names every setting that would allow it', () => {
    for (const text of ['http://127.0.0.1/', 'http://localhost/']) {
      const why = judged(text);
      for (const word of ['allowed_domains', 'allowed_ports', '--private-webhooks', 'LANDFALL_WEBHOOK_PRIVATE=allow'])
        expect(why).toContain(word);
    }
  });

  test('names its port too, if not allowed', () => {
    const why = judged('http://127.0.0.1:9001/');
    expect(why).toMatch(/^names port 9001: .* http to 80; and leads to a private network: name the address/);
    expect(judged('http://127.0.0.1:9001/', { allowed_domains: ['example.com'] })).toMatch(
      /^names port 9001: .*; and names a host that is not among webhooks\.url\.allowed_domains$/,
    );
  });

  test('unless the operator allows private networks', () => {
    for (const host of ['127.0.0.1', '10.0.0.1', '[::1]', 'localhost'])
      expect(judged(`http://${host}/`, {}, true)).toBe('outside');
  });

  test('unless the file allows this exact address', () => {
    expect(judged('http://127.0.0.1/', { allowed_domains: ['127.0.0.1'] })).toBe('outside');
    expect(judged('http://2130706433/', { allowed_domains: ['127.0.0.1'] })).toBe('outside');
    expect(judged('http://[::1]/', { allowed_domains: ['::1'] })).toBe('outside');
    expect(judged('http://localhost/', { allowed_domains: ['localhost'] })).toBe('outside');
    expect(judged('http://some.localhost/', { allowed_domains: ['*.localhost'] })).toMatch(/private/);
    expect(judged('http://127.0.0.2/', { allowed_domains: ['127.0.0.1'] })).toMatch(/allowed_domains/);
    expect(judged('http://[::ffff:127.0.0.1]/', { allowed_domains: ['127.0.0.1'] })).toMatch(/allowed_domains/);
  });
});

describe('allowed_domains', () => {
  const url = { allowed_domains: ['hooks.example.com', '*.Partner.example', 'bücher.example', 'dotted.example.'] };
  eachClaim([
    ['agent.webhook-config.allowed-domains', 'a host of the list', 'https://hooks.example.com/', true],
    ['', 'in upper case', 'https://HOOKS.example.COM/', true],
    ['', 'with a trailing dot', 'https://hooks.example.com./', true],
    ['', 'with a trailing dot in the entry', 'https://dotted.example/', true],
    ['', 'internationalized', 'https://bücher.example/', true],
    ['', 'in punycode', 'https://xn--bcher-kva.example/', true],
    ['agent.webhook-config.allowed-domains-wildcard', 'a name below a domain', 'https://a.partner.example/', true],
    ['', 'a name far below a domain', 'https://a.b.partner.example/', true],
    ['', 'not the domain itself', 'https://partner.example/', false],
    ['', 'not a domain with the same suffix', 'https://evilpartner.example/', false],
    ['', 'not a host with it as a prefix', 'https://a.partner.example.evil.test/', false],
    ['', 'not a subdomain without a wildcard', 'https://a.hooks.example.com/', false],
    ['', 'not one with it as the user name', 'https://hooks.example.com@evil.test/', false],
    ['', 'not one with it in the path', 'https://evil.test/hooks.example.com', false],
    ['', 'not another host', 'https://example.com/', false],
    ['', 'not an address', 'https://8.8.8.8/', false],
    ['', 'but a path of the server itself', '/runs', true],
  ])('%s', {}, (_, text, allowed) => expect(['outside', 'itself'].includes(judged(text, url))).toBe(allowed));

  test('an empty list allows no host', () =>
    expect(judged('https://a.example/', { allowed_domains: [] })).toMatch(/among/));

  test('an entry of a non-public network allows nothing', () => {
    expect(judged('https://some.localhost/', { allowed_domains: ['some.localhost'] })).toMatch(/private/);
  });
});

describe('schemes and ports', () => {
  test('require_https rejects a plain http URL', { meta: { claims: ['agent.webhook-config.require-https'] } }, () => {
    expect(judged('http://a.example/', { require_https: true })).toMatch(/require_https/);
    expect(judged('https://a.example/', { require_https: true })).toBe('outside');
    expect(judged('/runs', { require_https: true })).toBe('itself');
  });

  test.each([
    ['https://a.example/', true],
    ['https://a.example:443/', true],
    ['http://a.example/', true],
    ['http://a.example:80/', true],
    ['http://a.example:443/', false],
    ['https://a.example:80/', false],
    ['https://a.example:8443/', false],
    ['http://a.example:0/', false],
    ['https://a.example:022/', false],
  ])(
    '%s: %s',
    { meta: { claims: ['agent.webhook-config.allowed-ports-default', 'agent.limits.webhook-ports'] } },
    (text, allowed) => expect(judged(text) === 'outside').toBe(allowed),
  );

  test.each([
    ['https://a.example:8443/', true],
    ['http://a.example:8443/', true],
    ['https://a.example/', false],
    ['https://a.example:443/', false],
    ['https://a.example:8444/', false],
  ])(
    'with allowed_ports [8443] %s: %s',
    { meta: { claims: ['agent.webhook-config.allowed-ports'] } },
    (text, allowed) => expect(judged(text, { allowed_ports: [8443] }) === 'outside').toBe(allowed),
  );
});

describe('paths of the server itself', () => {
  test('are accepted, with their query', { meta: { claims: ['agent.webhook-config.relative-url'] } }, () => {
    expect(parseWebhookTarget('/threads/search?a=b#c', rules())).toEqual({
      kind: 'itself',
      path: '/threads/search?a=b',
    });
  });
  test('are rejected with disable_loopback', { meta: { claims: ['agent.webhook-config.disable-loopback'] } }, () => {
    expect(judged('/threads/search', { disable_loopback: true })).toMatch(/disable_loopback/);
    expect(judged('https://a.example/', { disable_loopback: true })).toBe('outside');
  });
});

describe('the length of a URL', { meta: { claims: ['agent.limits.webhook-url-length'] } }, () => {
  const ofLength = (length: number): string => 'https://a.example/'.padEnd(length, 'x');
  test(
    'accepts max_url_length characters, and rejects one more',
    { meta: { claims: ['agent.webhook-config.max-url-length'] } },
    () => {
      expect(judged(ofLength(50), { max_url_length: 50 })).toBe('outside');
      expect(judged(ofLength(51), { max_url_length: 50 })).toMatch(/longer than 50 characters/);
      expect(judged('/'.padEnd(51, 'x'), { max_url_length: 50 })).toMatch(/longer/);
    },
  );
  test('counts a surrogate pair as one character', () => {
    expect(judged(`${ofLength(49)}😀`, { max_url_length: 50 })).toBe('outside');
  });
  test('is 65,536 by default', () => {
    expect(judged(ofLength(65_536))).toBe('outside');
    expect(judged(ofLength(65_537))).toMatch(/longer/);
    expect(judged(ofLength(65_537), { max_url_length: 100_000 })).toMatch(/longer/);
  });
});

test('no reason repeats the URL', () => {
  for (const text of [
    'http://127.0.0.1/?t=geheim',
    'https://u:geheim@a.example',
    'geheim',
    'https://a.example:8443/geheim',
  ])
    expect(judged(text)).not.toContain('geheim');
});

test('an accepted address is always public, however it is written', () => {
  const number = fc.oneof(fc.nat(255), fc.nat(0xffffffff));
  const spelled = fc
    .tuple(number, fc.constantFrom(10, 16, 8))
    .map(([value, base]) => `${base === 16 ? '0x' : base === 8 ? '0' : ''}${value.toString(base)}`);
  const host = fc.oneof(
    fc.array(spelled, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.')),
    fc.ipV6().map((address) => `[${address}]`),
    fc.ipV4(),
  );
  const passed = fc.sample(fc.tuple(host, fc.constantFrom('', '.')), 3000).flatMap(([written, dot]) => {
    const judgement = parseWebhookTarget(`http://${written}${dot}/`, rules());
    return judgement.kind === 'outside' ? [judgement.host.replace(/^\[|\]$/g, '')] : [];
  });
  expect(passed.length).toBeGreaterThan(100);
  expect(passed.filter((address) => networkOf(address) !== 'public')).toEqual([]);
});
