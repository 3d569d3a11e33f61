import { expect, test } from 'vitest';
import { serverInfo } from '../../../src/services/agent/version.ts';

test.each([
  ['JavaScript', undefined, 'js', undefined],
  ['Python', '1.2.12', undefined, '1.2.12'],
])('describes the server of graphs in %s as the public one', (_, engine, context, version) => {
  const info = serverInfo({}, true, engine);
  expect([info['context'], info['langgraph_py_version']]).toEqual([context, version]);
});
