import { expect, test } from 'vitest';
import { readAgentPath } from '../../../../src/services/control/gateway/gateway.ts';

test.each([
  ['a path of an agent', '/agents/a1/threads/t/runs', { deploymentId: 'a1', path: '/threads/t/runs' }],
  ['the query is kept', '/agents/a1/x?limit=1&q=%2F', { deploymentId: 'a1', path: '/x?limit=1&q=%2F' }],
  ['the bare URL is the root', '/agents/a1', { deploymentId: 'a1', path: '/' }],
  ['a query directly after the id', '/agents/a1?x=1', { deploymentId: 'a1', path: '/?x=1' }],
  ['an uppercase id is the same id', '/agents/A1/ok', { deploymentId: 'a1', path: '/ok' }],
  ['dot segments are resolved first', '/agents/a1/../b2/ok', { deploymentId: 'b2', path: '/ok' }],
  ['encoded dot segments too', '/agents/a1/%2e%2e/b2/ok', { deploymentId: 'b2', path: '/ok' }],
  ['an encoded slash is kept', '/agents/a1/x%2Fy', { deploymentId: 'a1', path: '/x%2Fy' }],
  ['an absolute URL as the target', 'http://other/agents/a1/ok', { deploymentId: 'a1', path: '/ok' }],
  ['a route of the service', '/v2/deployments', undefined],
  ['no id', '/agents/', undefined],
  ['a path out of the agents', '/agents/a1/../../v2/deployments', undefined],
  ['an invalid target', 'http://[', undefined],
])('%s', (_, target, read) => expect(readAgentPath(target)).toEqual(read));
