import { expect, test } from 'vitest';
import { taskError } from '../../../../src/services/agent/runs/debug-payload.ts';

test.each([
  ['an error as stored by the engine', { name: 'RequestedFailure', message: 'no ink' }, 'RequestedFailure: no ink'],
  ['an Error', new TypeError('no ink'), 'TypeError: no ink'],
  ['an error without a message', { name: 'RequestedFailure', message: '' }, 'RequestedFailure'],
  ['an error of another shape', { code: 7 }, 'Error'],
  ['a thrown string', 'no ink', 'no ink'],
  ['a thrown number', 7, '7'],
  ['a thrown function', () => 7, 'Error'],
  ['no error', undefined, null],
  ['null', null, null],
])('formats %s as one string', (_, error, reported) => {
  expect(taskError(error)).toBe(reported);
});
