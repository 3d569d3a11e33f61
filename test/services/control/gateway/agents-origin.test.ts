import { expect, test } from 'vitest';
import { readAddress } from '../../../../src/kit/base-address.ts';
import {
  agentsUrlFor,
  areIsolated,
  consoleOriginOf,
  isAgentsHost,
} from '../../../../src/services/control/gateway/agents-origin.ts';

const named = { publicUrl: 'https://a.test', agentsUrl: 'https://agents.test', basePath: '' };
const unnamed = { publicUrl: 'https://a.test', basePath: '' };
const local = { basePath: '/api' };

test.each([
  ['127.0.0.1:8420', local, 'http://agents.localhost:8420/api'],
  ['localhost', local, 'http://agents.localhost/api'],
  ['[::1]:1', local, 'http://agents.localhost:1/api'],
  ['127.0.0.1.evil.test:1', local, undefined],
  ['agents.localhost:1', local, undefined],
  [undefined, local, undefined],
  ['a.test', named, 'https://agents.test'],
  ['127.0.0.1:1', unnamed, undefined],
])('for a page at %s of %j agents are at %s', (host, address, url) => {
  expect(agentsUrlFor(host, address)).toBe(url);
});

test.each([
  ['agents.localhost:8420', local, true],
  ['AGENTS.localhost', local, true],
  ['agents.localhost.:8420', local, true],
  ['x.agents.localhost', local, false],
  ['agents.localhost.evil.test', local, false],
  ['evil.test/agents.localhost', local, false],
  ['', local, false],
  ['127.0.0.1:8420', local, false],
  [undefined, local, false],
  ['agents.test', named, true],
  ['agents.test:8443', named, true],
  ['agents.test', { ...named, agentsUrl: 'https://agents.test.' }, true],
  ['a.test', named, false],
  ['agents.localhost', named, false],
  ['agents.localhost', unnamed, false],
])('the host %s of %j is for agents: %s', (host, address, isForAgents) => {
  expect(isAgentsHost(host, address)).toBe(isForAgents);
});

test.each([
  ['https://a.test', 'agents.test', named, true],
  // A page of the visitor's own machine is none of a public console.
  ['http://localhost', 'agents.test', named, false],
  ['http://localhost:8420', 'agents.localhost:8420', local, true],
  ['http://localhost:1', 'agents.localhost:8420', local, false],
  ['https://a.test', 'a.test', named, false],
])('%s calls agents at %s as the console of %j: %s', (origin, host, address, isConsole) => {
  expect(consoleOriginOf({ origin, host }, address)).toBe(isConsole ? origin : undefined);
});

test.each([
  ['https://a.test', 'https://agents.a.test', true],
  ['https://a.test', 'https://a.test', false],
  ['https://a.test', 'https://a.test.', false],
  // Cookies know no ports, and a page with https reaches nothing without it.
  ['https://a.test', 'https://a.test:8443', false],
  ['https://a.test', 'http://agents.test', false],
  // The console works at loopback names too.
  ['http://a.test', 'http://127.0.0.1:8420', false],
  ['http://a.test', 'http://localhost:8420', false],
])('a console at %s and agents at %s are apart: %s', (console, agents, apart) => {
  const [one, other] = [console, agents].map((address) => readAddress(address, { allowHttp: true }));
  expect(one?.ok && other?.ok && areIsolated(one.address, other.address)).toBe(apart);
});
