import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { containerCompute } from '../../../../src/control-service/compute/container-compute.ts';
import { loggerTo } from '../../../logger.ts';

test('a build in Python is refused in a container, with what to do', async () => {
  const compute = containerCompute({
    clock: systemClock,
    log: loggerTo(() => undefined),
    serviceId: 's',
    usedDir: '/nowhere',
    env: {},
    program: { node: '/node', agentServer: '/agent' },
  });
  const program = {
    kind: 'build',
    madeOf: 'commit 1',
    folder: '/b',
    graphConfigFile: '/b/c',
    homeFolder: '/b/h',
    python: '/b/python/bin/python',
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
  expect(await compute.start(spec, new AbortController().signal)).toEqual({
    kind: 'failed',
    reason: expect.stringMatching(
      /^Graphs of this agent are in Python, .*\. Start the service without --compute container,/,
    ),
  });
});
