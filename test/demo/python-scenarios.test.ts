import { afterEach, expect, test, vi } from 'vitest';
import { pythonScenarios } from '../../src/demo/python-scenarios.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('without Python one row names the agents in Python as not run, and why', async () => {
  vi.stubEnv('PATH', '/nowhere');
  const scenarios = await pythonScenarios({ folder: '/nowhere', root: '/nowhere' });
  expect(scenarios.map(({ title }) => title)).toEqual(['agents in Python: four rows are not run']);
  // It uses nothing of the demo's.
  const environment = expect.anything();
  expect(await scenarios[0]?.play(environment, environment, [])).toEqual({
    isProven: true,
    isSkipped: true,
    summary: expect.stringMatching(/^not tried: .*this machine has no Python 3\.10 or newer/),
  });
});
