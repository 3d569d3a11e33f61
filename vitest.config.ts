import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const exclude = ['test/partners/*/node_modules/**', 'node_modules/**'];

/**
 * Three tiers. A test that starts a process or needs Postgres is named `*.system.test.ts`; every other one is a unit test,
 * for which both fail. `npm run test:unit` runs these alone, but for those that search or mutate for long:
 * `*.slow.test.ts`. Files of unit tests share the modules that they import, which takes two thirds less time; what
 * changes modules for all, by nock or `vi.mock`, is named `*.isolated.test.ts`.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    // Most tests wait for processes and databases of their own: two processors get three files.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 120_000 } },
    reporters: [
      'default',
      './test/conformance/reporter.ts',
      './test/journey/canary-reporter.ts',
      './test/python/not-run-reporter.ts',
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, 'test/**/*.{system,slow,isolated}.test.ts'],
          setupFiles: ['test/unit-setup.ts', 'test/unchanged-globals.ts'],
          isolate: false,
          unstubGlobals: true,
          unstubEnvs: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit-isolated',
          include: ['test/**/*.isolated.test.ts'],
          exclude,
          setupFiles: ['test/unit-setup.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'slow', include: ['test/**/*.slow.test.ts'], exclude, setupFiles: ['test/unit-setup.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'system',
          // Nothing waits this long: on a busy machine a journey takes minutes.
          testTimeout: 600_000,
          hookTimeout: 600_000,
          include: ['test/**/*.system.test.ts'],
          exclude,
          globalSetup: ['test/global-setup.ts'],
        },
      },
    ],
  },
});
