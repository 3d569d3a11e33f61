import type { SmokeTestRunner } from '../../../app/context.ts';

/** Runs no tests, and measures nothing. */
export const untested: SmokeTestRunner = {
  advance: async () => ({ kind: 'done', verdict: { kind: 'none', tests: [] } }),
  measure: async () => ({ kind: 'measured', state: {}, samples: [] }),
  cleanUp: async () => undefined,
};
