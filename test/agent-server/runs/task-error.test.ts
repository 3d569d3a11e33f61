import { expect, test } from 'vitest';
import { taskError } from '../../../src/agent-server/runs/task-error.ts';

test.each([
  ['what the engine stored of an error', { name: 'RequestedFailure', message: 'no ink' }, 'RequestedFailure: no ink'],
  ['an error itself', new TypeError('no ink'), 'TypeError: no ink'],
  ['an error without a message', { name: 'RequestedFailure', message: '' }, 'RequestedFailure'],
  ['an error of another form', { code: 7 }, 'Error'],
  ['a text that was thrown', 'no ink', 'no ink'],
  ['a number that was thrown', 7, '7'],
  ['a function that was thrown', () => 7, 'Error'],
  ['no error', undefined, null],
  ['no error, as JSON has it', null, null],
])('%s is told as one text', (_, error, reported) => {
  expect(taskError(error)).toBe(reported);
});
