import { expect, test } from 'vitest';
import { decideAttemptStart } from '../../../../src/services/agent/runs/attempt-start.ts';

const far = (words: string) => ({
  wentOn: words.includes('advanced'),
  inside: words.includes('inside'),
  taken: words.includes('taken'),
});
const [input, command, at] = [{ input: {} }, { command: { resume: 'yes' } }, { checkpoint: { checkpoint_id: 'x' } }];

test.each([
  ['repeats an input that is not stored', input, 'nowhere', 'as-requested'],
  ['uses a stored input only once', input, 'advanced', 'go-on'],
  ['uses a stored command only once', command, 'advanced', 'go-on'],
  ['a run from a past state continues from its own', { ...command, ...at }, 'advanced, inside', 'go-on'],
  ['repeats an answer that is not stored in a state', command, 'taken', 'over'],
  ['repeats an unused answer', command, 'nowhere', 'over'],
  ['does not repeat an answer used by a subgraph', command, 'inside, taken', 'answer-taken'],
  ['repeats an answer on its way into a subgraph', command, 'inside', 'as-requested'],
  ['restarts from a past state that is not the newest', { ...command, ...at }, 'inside, taken', 'over'],
] as const)('%s', (_, kwargs, words, start) => {
  const rest = { config: { configurable: {} }, stream_mode: [], stream_subgraphs: false };
  expect(decideAttemptStart({ ...rest, ...kwargs }, far(words))).toBe(start);
});
