import { expect, test } from 'vitest';
import { agentEnvironment } from '../../../../src/services/control/compute/agent-environment.ts';
import type { AgentSpec, BuildProgram } from '../../../../src/services/control/compute/compute.ts';

const program: BuildProgram = {
  kind: 'build',
  sourceText: 'commit 1',
  folder: '/b',
  graphConfigFile: '/b/source/langgraph.json',
  homeFolder: '/b/home',
};
const spec: AgentSpec = {
  deploymentId: 'd',
  revisionId: 'r',
  name: 'n',
  program,
  databaseUrl: 'postgres://x',
  secrets: [{ name: 'LANDFALL_PYTHON', value: '/another' }],
  secretReferences: [],
  resourceSpec: undefined,
  deploymentType: undefined,
  namespace: undefined,
  tracing: undefined,
  log: () => undefined,
};
const settings = { token: 't', drainMs: 1, privateWebhooks: false, socket: '/s', path: '/usr/bin', node: '/node/node' };

test('an agent in Python gets its interpreter, and finds the programs of its environment', () => {
  const env = agentEnvironment(spec, { ...program, python: '/b/python/bin/python' }, settings);
  expect(env).toMatchObject({ LANDFALL_PYTHON: '/b/python/bin/python', PATH: '/node:/b/python/bin:/usr/bin' });
});

test('another agent gets none', () => {
  expect(agentEnvironment({ ...spec, secrets: [] }, program, settings)).not.toHaveProperty('LANDFALL_PYTHON');
});
