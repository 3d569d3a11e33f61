import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/partners/*/node_modules/**', 'node_modules/**'],
    globalSetup: ['test/global-setup.ts'],
    pool: 'forks',
    // Many tests wait for servers and disks of their own: each processor gets a file.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/conformance/reporter.ts', './test/journey/canary-reporter.ts'],
  },
});
