import { describe, expect, test } from 'vitest';
import { makeFitForAgent, makeFitForCaller, setPublicAddress } from '../../../src/control-service/gateway/headers.ts';
import { makeApiKey } from '../../../src/control-service/keys/api-key.ts';

const forAgent = (headers: Record<string, string>): Record<string, unknown> => {
  makeFitForAgent(headers, 'token');
  return headers;
};
const forCaller = (headers: Record<string, string>): Record<string, unknown> => {
  makeFitForCaller(headers);
  return headers;
};
const token = { 'x-landfall-agent-token': 'token' };

const [own, other] = [makeApiKey().text, makeApiKey().text];
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('what a caller shows', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['the key never reaches the agent', { 'x-api-key': own, 'x-tenant-id': 't' }, {}],
    ['nor does it as a bearer token', { authorization: `Bearer ${own}` }, {}],
    ['nor with an empty key beside it', { 'x-api-key': ' ', authorization: `Bearer ${own}` }, {}],
    ['nor does anything where the key may stand', { authorization: 'Bearer mine' }, {}],
    ['nor does the key when it is sent twice', { 'x-api-key': own, authorization: `Bearer ${own}` }, {}],
    ['nor with spaces around it', { 'x-api-key': ` ${own} `, authorization: `Bearer ${own}` }, {}],
    ['nor without a scheme', { 'x-api-key': own, authorization: own }, {}],
    ['nor another key of the service', { 'x-api-key': own, authorization: `Bearer ${other}` }, {}],
    ['nor another key in the midst of something', { 'x-api-key': own, authorization: `Key x=${other}, y` }, {}],
    ['nor a key as a password', { 'x-api-key': own, authorization: basic('me', own) }, {}],
    ['nor another key as a name', { 'x-api-key': own, authorization: basic(other, '') }, {}],
    ['nor as a cookie', { 'x-api-key': own, cookie: `a=b; key=${own}` }, {}],
    ['nor another key as a cookie', { 'x-api-key': own, cookie: `a=b; key=${other}` }, {}],
    ['nor in a header of any name', { 'x-api-key': own, 'x-mine': `key ${other}` }, {}],
    ['nor as the name of a header', { 'x-api-key': own, [own.toLowerCase()]: 'x' }, {}],
    ['nor as a password in a header of any name', { 'x-api-key': own, 'x-mine': basic('me', own) }, {}],
    ['a cookie of another kind does', { 'x-api-key': own, cookie: 'a=b' }, { cookie: 'a=b' }],
    ['nor what is for a proxy', { 'x-api-key': own, 'proxy-authorization': 'Basic abc' }, {}],
    [
      'a token for the agent beside the key does',
      { 'x-api-key': own, authorization: 'Bearer mine' },
      { authorization: 'Bearer mine' },
    ],
    [
      'and so does a name with a password',
      { 'x-api-key': own, authorization: basic('me', 'secret') },
      { authorization: basic('me', 'secret') },
    ],
    [
      'unless the connection names it',
      { 'x-api-key': own, authorization: 'Bearer mine', connection: 'authorization' },
      {},
    ],
    ['a forged token of the gateway is replaced', { 'x-landfall-agent-token': 'forged' }, {}],
    ['and can not be taken away', { connection: 'x-landfall-agent-token' }, {}],
  ])('%s', (_, sent, seen) => expect(forAgent(sent)).toEqual({ ...seen, ...token }));
});

test.each([
  ['what a caller asks reaches the agent', { accept: 'a/b', 'x-mine': '1' }, { accept: 'a/b', 'x-mine': '1' }],
  ['what speaks of the connection is dropped', { connection: 'keep-alive', 'keep-alive': 'timeout=5', te: 'x' }, {}],
  ['what the connection names is dropped', { connection: 'X-One, x-two', 'x-one': '1', 'x-two': '2' }, {}],
  [
    'the framing can not be dropped by naming it',
    { connection: 'content-length', 'content-length': '3' },
    { 'content-length': '3' },
  ],
  ['an expectation was met by the service', { expect: '100-continue' }, {}],
])('%s', (_, sent, seen) => expect(forAgent(sent)).toEqual({ ...seen, ...token }));

test.each([
  [
    'what the agent says reaches the caller',
    { 'content-location': '/threads/1' },
    { 'content-location': '/threads/1' },
  ],
  ['its connection is its own', { connection: 'close', 'keep-alive': 'timeout=5' }, {}],
  ['the token of the gateway does not come back', { 'x-landfall-agent-token': 'token' }, {}],
  ['an encoding of the content stays', { 'content-encoding': 'gzip' }, { 'content-encoding': 'gzip' }],
])('%s', (_, said, seen) => expect(forCaller(said)).toEqual(seen));

test.each(
  (
    'x-forwarded-for x-forwarded-port x-forwarded-server x-forwarded-ssl x-forwarded-scheme x-forwarded forwarded ' +
    'forwarded-for via x-real-ip true-client-ip cf-connecting-ip cf-visitor client-ip x-client-ip x-cluster-client-ip ' +
    'fastly-client-ip x-original-url x-rewrite-url x-original-host x_forwarded_for x_forwarded_host x-forwarded_proto ' +
    'x-envoy-external-address x-forwarded-client-cert'
  ).split(' '),
)('a forged %s never reaches the agent', (name) => expect(forAgent({ [name]: '10.0.0.1' })).toEqual(token));

describe('where the agent is told that it answers', () => {
  const forged = {
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-prefix': '/elsewhere',
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
    ['below the service', {}, undefined, '', { 'x-forwarded-prefix': '/agents/one' }],
    ['below the path of the service', {}, undefined, '/api', { 'x-forwarded-prefix': '/api/agents/one' }],
    ['at the public address', {}, 'https://a.example', '', outside('a.example', '/agents/one')],
    ['with its port', {}, 'https://a.example:8443', '', outside('a.example:8443', '/agents/one')],
    ['and its path', {}, 'https://a.example/outer/api', '/api', outside('a.example', '/outer/api/agents/one')],
    ['whatever callers say', forged, undefined, '', { 'x-forwarded-prefix': '/agents/one' }],
    ['and whatever they say of the public one', forged, 'https://a.example', '', outside('a.example', '/agents/one')],
  ])('%s', (_, sent, publicUrl, basePath, reported) => expect(seen(sent, publicUrl, basePath)).toEqual(reported));
});
