import { expect, test } from 'vitest';
import { makeFitForAgent, makeFitForCaller, tellPrefix } from '../../../src/control-service/gateway/headers.ts';

const forAgent = (headers: Record<string, string>): Record<string, unknown> => {
  makeFitForAgent(headers, 'token');
  return headers;
};
const forCaller = (headers: Record<string, string>): Record<string, unknown> => {
  makeFitForCaller(headers);
  return headers;
};
const token = { 'x-landfall-agent-token': 'token' };

test.each([
  ['what a caller asks reaches the agent', { accept: 'a/b', 'x-mine': '1' }, { accept: 'a/b', 'x-mine': '1' }],
  ['the key does not', { 'x-api-key': 'k', 'x-tenant-id': 't', authorization: 'Bearer k' }, {}],
  ['nor does it as a bearer token', { authorization: 'Bearer k' }, {}],
  ['nor with an empty key beside it', { 'x-api-key': ' ', authorization: 'Bearer k' }, {}],
  [
    'what the caller shows to the agent beside the key does',
    { 'x-api-key': 'k', authorization: 'Bearer mine' },
    { authorization: 'Bearer mine' },
  ],
  [
    'unless the connection names it',
    { 'x-api-key': 'k', authorization: 'Bearer mine', connection: 'authorization' },
    {},
  ],
  ['a forged token is replaced', { 'x-landfall-agent-token': 'forged' }, {}],
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
  ['an encoding of the content stays', { 'content-encoding': 'gzip' }, { 'content-encoding': 'gzip' }],
])('%s', (_, said, seen) => expect(forCaller(said)).toEqual(seen));

test.each([
  ['the agent is told what its paths stand behind', {}, '/agents/one'],
  ['and what stands before that', { 'x-forwarded-prefix': '/service/' }, '/service/agents/one'],
])('%s', (_, sent: Record<string, string>, prefix) => {
  tellPrefix(sent, '/agents/one');
  expect(sent['x-forwarded-prefix']).toBe(prefix);
});
