import { describe, expect, test } from 'vitest';
import { prepareAgentRequest, setPublicAddress } from '../../../../src/services/control/gateway/headers.ts';
import { agentResponseHeaders } from '../../../../src/services/control/gateway/response-headers.ts';
import { makeApiKey } from '../../../../src/services/control/api-keys/api-key.ts';

const forAgent = (headers: Record<string, string>): Record<string, unknown> => {
  prepareAgentRequest(headers, 'token');
  return headers;
};
const forCaller = (headers: Record<string, string>) => agentResponseHeaders(headers, 'client');
const token = { 'x-landfall-agent-token': 'token' };

const [own, other] = [makeApiKey().text, makeApiKey().text];
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('credentials of a caller', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['removes the key', { 'x-api-key': own, 'x-tenant-id': 't' }, {}],
    ['removes the key as a bearer token', { authorization: `Bearer ${own}` }, {}],
    ['removes the key next to an empty key header', { 'x-api-key': ' ', authorization: `Bearer ${own}` }, {}],
    ['removes other credentials from the header that holds the key', { authorization: 'Bearer mine' }, {}],
    ['removes the key when it is sent twice', { 'x-api-key': own, authorization: `Bearer ${own}` }, {}],
    ['removes the key with spaces around it', { 'x-api-key': ` ${own} `, authorization: `Bearer ${own}` }, {}],
    ['removes the key without a scheme', { 'x-api-key': own, authorization: own }, {}],
    ['removes another key of the service', { 'x-api-key': own, authorization: `Bearer ${other}` }, {}],
    ['removes another key inside a value', { 'x-api-key': own, authorization: `Key x=${other}, y` }, {}],
    ['removes a key as a password', { 'x-api-key': own, authorization: basic('me', own) }, {}],
    ['removes another key as a user name', { 'x-api-key': own, authorization: basic(other, '') }, {}],
    ['removes the key as a cookie', { 'x-api-key': own, cookie: `a=b; key=${own}` }, {}],
    ['removes another key as a cookie', { 'x-api-key': own, cookie: `a=b; key=${other}` }, {}],
    ['removes a key in any header', { 'x-api-key': own, 'x-mine': `key ${other}` }, {}],
    ['removes a key as the name of a header', { 'x-api-key': own, [own.toLowerCase()]: 'x' }, {}],
    ['removes a key as a password in any header', { 'x-api-key': own, 'x-mine': basic('me', own) }, {}],
    ['keeps other cookies', { 'x-api-key': own, cookie: 'a=b' }, { cookie: 'a=b' }],
    ['removes proxy credentials', { 'x-api-key': own, 'proxy-authorization': 'Basic abc' }, {}],
    [
      'keeps a token for the agent next to the key',
      { 'x-api-key': own, authorization: 'Bearer mine' },
      { authorization: 'Bearer mine' },
    ],
    [
      'keeps a user name and password',
      { 'x-api-key': own, authorization: basic('me', 'secret') },
      { authorization: basic('me', 'secret') },
    ],
    [
      'removes credentials that the Connection header names',
      { 'x-api-key': own, authorization: 'Bearer mine', connection: 'authorization' },
      {},
    ],
    ['replaces a forged token of the gateway', { 'x-landfall-agent-token': 'forged' }, {}],
    ['keeps the token of the gateway if the Connection header names it', { connection: 'x-landfall-agent-token' }, {}],
  ])('%s', (_, sent, seen) => expect(forAgent(sent)).toEqual({ ...seen, ...token }));
});

test.each([
  ['forwards other headers of a request', { accept: 'a/b', 'x-mine': '1' }, { accept: 'a/b', 'x-mine': '1' }],
  ['removes hop-by-hop headers', { connection: 'keep-alive', 'keep-alive': 'timeout=5', te: 'x' }, {}],
  ['removes headers that the Connection header names', { connection: 'X-One, x-two', 'x-one': '1', 'x-two': '2' }, {}],
  [
    'keeps the framing even if the Connection header names it',
    { connection: 'content-length', 'content-length': '3' },
    { 'content-length': '3' },
  ],
  ['removes Expect, which the service handles', { expect: '100-continue' }, {}],
])('%s', (_, sent, seen) => expect(forAgent(sent)).toEqual({ ...seen, ...token }));

test.each([
  ['forwards the headers of a response', { 'content-location': '/threads/1' }, { 'content-location': '/threads/1' }],
  ['removes hop-by-hop headers of a response', { connection: 'close', 'keep-alive': 'timeout=5' }, {}],
  ['removes the token of the gateway from a response', { 'x-landfall-agent-token': 'token' }, {}],
  ['keeps the content encoding', { 'content-encoding': 'gzip' }, { 'content-encoding': 'gzip' }],
])('%s', (_, said, seen) => expect(forCaller(said)).toEqual(seen));

test.each(
  (
    'x-accel-redirect x-accel-expires x-accel-limit-rate x-accel-charset x-sendfile x-sendfile-type x-sendfile2 ' +
    'x-lighttpd-send-file x-reproxy-url x-reproxy-file surrogate-control'
  ).split(' '),
)('gives %s of an agent to nobody, as web servers in front act on it', (name) => {
  const answers = (['client', 'page', 'session', 'ui-file'] as const).map((audience) =>
    agentResponseHeaders({ [name]: '/secret', 'x-accel-buffering': 'no' }, audience),
  );
  for (const answer of answers) expect(answer).not.toHaveProperty(name);
  expect(answers[0]).toEqual({ 'x-accel-buffering': 'no' });
});

test.each(
  (
    'x-forwarded-for x-forwarded-port x-forwarded-server x-forwarded-ssl x-forwarded-scheme x-forwarded forwarded ' +
    'forwarded-for via x-real-ip true-client-ip cf-connecting-ip cf-visitor client-ip x-client-ip x-cluster-client-ip ' +
    'fastly-client-ip x-original-url x-rewrite-url x-original-host x_forwarded_for x_forwarded_host x-forwarded_proto ' +
    'x-envoy-external-address x-forwarded-client-cert'
  ).split(' '),
)('never forwards a forged %s to the agent', (name) => expect(forAgent({ [name]: '10.0.0.1' })).toEqual(token));

describe('the public address that an agent gets', () => {
  const forged = {
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-prefix': '/other',
    connection: 'x-forwarded-host, x-forwarded-prefix',
  };
  const seen = (sent: Record<string, string>, publicUrl: string | undefined, basePath = '') => {
    const headers = { ...sent };
    setPublicAddress(headers, { publicUrl, basePath }, '/agents/one');
    return Object.fromEntries(Object.entries(forAgent(headers)).filter(([name]) => name.startsWith('x-forwarded-')));
  };
  const outside = (host: string, prefix: string) => ({
    'x-forwarded-proto': 'https',
    'x-forwarded-host': host,
    'x-forwarded-prefix': prefix,
  });

  test.each<[string, Record<string, string>, string | undefined, string, Record<string, string>]>([
    ['the path below the service', {}, undefined, '', { 'x-forwarded-prefix': '/agents/one' }],
    ['below the base path of the service', {}, undefined, '/api', { 'x-forwarded-prefix': '/api/agents/one' }],
    ['the public URL', {}, 'https://a.example', '', outside('a.example', '/agents/one')],
    ['the public URL with its port', {}, 'https://a.example:8443', '', outside('a.example:8443', '/agents/one')],
    [
      'the public URL with its path',
      {},
      'https://a.example/outer/api',
      '/api',
      outside('a.example', '/outer/api/agents/one'),
    ],
    ['ignores forged headers', forged, undefined, '', { 'x-forwarded-prefix': '/agents/one' }],
    ['ignores forged headers with a public URL', forged, 'https://a.example', '', outside('a.example', '/agents/one')],
  ])('%s', (_, sent, publicUrl, basePath, reported) => expect(seen(sent, publicUrl, basePath)).toEqual(reported));
});
