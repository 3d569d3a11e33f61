import { silentLogger } from '../../../../src/kit/logger.ts';
import { loggerTo } from '../../../logger.ts';
import { expect, test } from 'vitest';
import type { Graph } from '../../../../src/services/agent/graphs/graph.ts';
import { stateAfter } from '../../../../src/services/agent/runs/open-tasks.ts';

const failing = (fault: Error): Graph => {
  const fail = async () => {
    throw fault;
  };
  const events = { [Symbol.asyncIterator]: () => ({ next: fail }) };
  return { withConfig: () => failing(fault), stream: fail, streamEvents: () => events, getState: fail };
};

test('pending interrupts are not overlooked while the database is unavailable', async () => {
  const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
  await expect(stateAfter(failing(away), 'thread', silentLogger)).rejects.toBe(away);
});

test('a thread counts as unfinished if its graph can’t read the state, and the log has the cause', async () => {
  const reported: string[] = [];
  const after = await stateAfter(
    failing(new Error('no ink', { cause: new TypeError('dry') })),
    'thread',
    loggerTo((line) => reported.push(line)),
  );
  expect(after).toEqual({ interrupts: '{}', unfinishedState: true });
  const shown = /^The state of thread thread could not be read: Error: no ink\n[^]*\nCaused by: TypeError: dry\n/;
  expect(reported).toEqual([expect.stringMatching(shown)]);
});
