import { loggerTo } from '../../../logger.ts';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { RemoteRuns } from '../../../../src/services/agent/runs/remote-runs.ts';
import type { RemoteRunsDependencies } from '../../../../src/services/agent/runs/remote-runs.ts';

/** Fails once like the driver while the database is unavailable, then succeeds. */
function awayOnce<T>(answer: T): () => Promise<T> {
  let isAway = true;
  return async () => {
    if (isAway) {
      isAway = false;
      throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    }
    return answer;
  };
}

test('following another process’s run survives a database outage without a gap', async () => {
  const lines: string[] = [];
  const dependencies: RemoteRunsDependencies = {
    queue: { askForEvents: awayOnce(undefined), progressOf: awayOnce([]) },
    events: {
      last: awayOnce(3),
      after: async (cursors) =>
        cursors.map(({ after }) => ({
          events: after < 4 ? [{ id: 4, event: 'values', json: '{}' }] : [],
          hasMore: false,
        })),
      ending: awayOnce({ kind: 'error', json: '{"error":"Boom","message":"no ink"}', id: 5 } as const),
    },
    left: { answer: async () => 'null' },
    clock: systemClock,
    log: loggerTo((line) => lines.push(line)),
  };
  const otherThread = new RemoteRuns(dependencies);
  const reported: string[] = [];
  await new Promise<void>((resolve) => {
    otherThread.events({ runId: 'run', attempt: 1, resumable: false }).follow((event) => {
      if (event === undefined) resolve();
      else reported.push(event.event);
    });
  });
  expect(reported).toEqual(['metadata', 'values', 'error']);
  expect(lines).toEqual([]);
});
