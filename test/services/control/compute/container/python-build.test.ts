import { expect, test } from 'vitest';
import { systemClock } from '../../../../../src/kit/clock.ts';
import { agentServerPath } from '../../../../../src/services/control/compute/agent-environment.ts';
import { mainProgram } from '../../../../../src/services/control/compute/container/main-program.ts';
import { containerCompute } from '../../../../../src/services/control/compute/container-compute.ts';
import { loggerTo } from '../../../../logger.ts';

const program = {
  kind: 'build',
  sourceText: 'commit 1',
  folder: '/b',
  graphConfigFile: '/b/c',
  homeFolder: '/b/h',
  python: '/b/python/bin/python',
  pythonPackages: '/data/python/t/key',
} as const;
const spec = {
  deploymentId: 'd',
  revisionId: 'r',
  name: 'n',
  program,
  databaseUrl: 'postgres://x',
  secrets: [],
  secretReferences: [],
  resourceSpec: undefined,
  deploymentType: undefined,
  namespace: undefined,
  tracing: undefined,
  log: () => undefined,
};

test('a build in Python is refused in a container, with what to do', async () => {
  const compute = containerCompute({
    clock: systemClock,
    log: loggerTo(() => undefined),
    serviceId: 's',
    usedDir: '/nowhere',
    env: {},
    program: { node: '/node', agentServer: '/agent' },
  });
  expect(await compute.start(spec, new AbortController().signal)).toEqual({
    kind: 'failed',
    reason: expect.stringMatching(
      /^Graphs of this agent are in Python, .*\. Start the service without --compute container,/,
    ),
  });
});

test('a build in Python has its environment and packages in the container of a given image', () => {
  const endpoints = { databaseUrl: 'postgres://y', tracing: undefined };
  const files = { node: process.execPath, agentServer: agentServerPath() };
  const given = { token: 't', drainMs: 0, privateWebhooks: false, endpoints, program: files, user: undefined };
  const { image, flags, env } = mainProgram(spec, { ...given, buildImage: 'registry.test/node-and-python:1' });
  expect(image).toBe('registry.test/node-and-python:1');
  expect(env).toMatchObject({ LANDFALL_PYTHON: '/b/python/bin/python', LANDFALL_GRAPH_CONFIG: '/b/c' });
  const mounts = flags.filter((flag) => flag.startsWith('--mount='));
  expect(mounts).toEqual(
    expect.arrayContaining([
      '--mount=type=bind,source=/b,destination=/b,readonly',
      '--mount=type=bind,source=/data/python/t/key,destination=/data/python/t/key,readonly',
      expect.stringMatching(/\/python\/landfall_worker,readonly$/),
    ]),
  );
});
