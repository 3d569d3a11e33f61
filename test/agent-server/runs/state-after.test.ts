import { expect, test } from 'vitest';
import type { Graph } from '../../../src/agent-server/graphs/graph.ts';
import { stateAfter } from '../../../src/agent-server/runs/state-after.ts';

const failing = (fault: Error): Graph => {
  const fail = async () => {
    throw fault;
  };
  const events = { [Symbol.asyncIterator]: () => ({ next: fail }) };
  return { withConfig: () => failing(fault), stream: fail, streamEvents: () => events, getState: fail };
};

test('what a thread waits for is not taken for nothing while the database is away', async () => {
  const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
  await expect(stateAfter(failing(away), 'thread', () => undefined)).rejects.toBe(away);
});

test('a state that its graph can not read leaves a thread in the middle of something', async () => {
  const reported: string[] = [];
  const after = await stateAfter(failing(new Error('no ink')), 'thread', (line) => reported.push(line));
  expect(after).toEqual({ interrupts: '{}', unfinishedState: true });
  expect(reported).toEqual(['The state of thread thread could not be read: Error: no ink']);
});
