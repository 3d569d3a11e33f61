import { expect, test } from 'vitest';
import { disabledBy } from '../../../../src/services/agent/http/route-groups.ts';

test.for([
  ['/threads/t/commands', { disable_runs: true }, 'disable_runs'],
  ['/threads/t/commands', { disable_threads: true }, 'disable_threads'],
  ['/threads/t/stream/events', { disable_threads: true }, 'disable_threads'],
  ['/threads/t/stream', { disable_runs: true }, undefined],
  ['/threads/t/runs', { disable_threads: true }, undefined],
  ['/threads/t/runs', { disable_runs: true }, 'disable_runs'],
] as const)('%s is disabled by %o: %s', ([path, http, setting]) => {
  expect(disabledBy(http, path)).toBe(setting);
});
