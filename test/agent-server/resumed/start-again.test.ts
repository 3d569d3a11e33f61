import { expect, test } from 'vitest';
import { startAgain } from '../../../src/agent-server/runs/start-of-attempt.ts';

const far = (words: string) => ({
  wentOn: words.includes('came on'),
  inside: words.includes('inside'),
  taken: words.includes('taken'),
});
const [input, command, at] = [{ input: {} }, { command: { resume: 'yes' } }, { checkpoint: { checkpoint_id: 'x' } }];

test.each([
  ['an input that is in no state is given again', input, 'nowhere', 'as-requested'],
  ['an input that is in a state is given once', input, 'came on', 'go-on'],
  ['a command that is in a state is given once', command, 'came on', 'go-on'],
  ['a run that began at a state of the past goes on from its own', { ...command, ...at }, 'came on, inside', 'go-on'],
  ['an answer that was taken by no state is given again', command, 'taken', 'over'],
  ['an answer that nobody has taken is given again', command, 'nowhere', 'over'],
  ['an answer that a graph inside has taken is given once', command, 'inside, taken', 'answer-taken'],
  ['an answer that a graph inside goes towards is given again', command, 'inside', 'as-requested'],
  ['of a state of the past, which is not the newest, all begins anew', { ...command, ...at }, 'inside, taken', 'over'],
] as const)('%s', (_, kwargs, words, start) => {
  const rest = { config: { configurable: {} }, stream_mode: [], stream_subgraphs: false };
  expect(startAgain({ ...rest, ...kwargs }, far(words))).toBe(start);
});
