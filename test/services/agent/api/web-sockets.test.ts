import { expect, test } from 'vitest';
import { mayConnect } from '../../../../src/services/agent/api/web-sockets.ts';

const own = { host: 'agent.test' };
const any = { 'access-control-allow-origin': '*' };
const named = { 'access-control-allow-origin': 'https://page.test' };
const withCredentials = { ...named, 'access-control-allow-credentials': 'true' };

test.for([
  ['a client that is no page', own, {}, true],
  ['a page of the server itself', { ...own, origin: 'https://agent.test', cookie: 'a=1' }, {}, true],
  ['a page of an origin that may call', { ...own, origin: 'https://page.test' }, any, true],
  ['a page of an origin that may not', { ...own, origin: 'https://page.test' }, {}, false],
  ['cookies of a page where any origin may call', { ...own, origin: 'https://page.test', cookie: 'a=1' }, any, false],
  ['cookies without credentials', { ...own, origin: 'https://page.test', cookie: 'a=1' }, named, false],
  ['cookies with credentials', { ...own, origin: 'https://page.test', cookie: 'a=1' }, withCredentials, true],
] as const)('a WebSocket of %s', ([, headers, cors, connects]) => {
  expect(mayConnect(headers, new Headers(cors))).toBe(connects);
});
