import { expect, test } from 'vitest';
import { readOutputs } from '../../src/demo/runner.ts';

test.each([
  ['nothing', '', {}],
  ['one output', 'outcome<<ghadelimiter_1\ndeployed\nghadelimiter_1\n', { outcome: 'deployed' }],
  ['an empty output', 'plan<<ghadelimiter_1\n\nghadelimiter_1\n', { plan: '' }],
  [
    'outputs of several lines, in order',
    'a<<ghadelimiter_1\none\ntwo\nghadelimiter_1\nb<<ghadelimiter_2\nthree\nghadelimiter_2\n',
    { a: 'one\ntwo', b: 'three' },
  ],
])('what a step wrote: %s', (_, text, outputs) => expect(readOutputs(text)).toEqual(outputs));
