import { expect, test } from 'vitest';
import { deleteFromMemory, withPendingSends } from '../../../../../src/services/agent/graphs/javascript/engine.ts';

test('moves the tasks that nodes sent out of the channels', () => {
  const checkpoint = {
    id: 'c',
    channel_values: { said: 'x', __pregel_tasks: [{ node: 'n', args: 1 }] },
    channel_versions: { said: 2, __pregel_tasks: 2 },
  };
  expect(withPendingSends(checkpoint)).toEqual({
    id: 'c',
    channel_values: { said: 'x' },
    channel_versions: { said: 2 },
    pending_sends: [{ node: 'n', args: 1 }],
  });
});

test('gives a checkpoint of a later engine an empty list of tasks', () => {
  expect(withPendingSends({ channel_values: {}, channel_versions: {} }).pending_sends).toEqual([]);
});

test('deletes one thread from the memory of an older engine, and no other', () => {
  const key = (...parts: string[]): string => JSON.stringify(parts);
  const saver = { storage: { a: {}, ab: {} }, writes: { [key('a', '', '1')]: {}, [key('ab', '', '1')]: {} } };
  deleteFromMemory(saver, 'a');
  expect(saver).toEqual({ storage: { ab: {} }, writes: { [key('ab', '', '1')]: {} } });
});
