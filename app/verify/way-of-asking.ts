import type { Expectation, SmokeTest } from '../../src/config/smoke-test.ts';

/** Expectations about a stream's events: the nodes, and the times of the first and the last event. */
const ofTheStream: readonly Expectation['kind'][] = ['nodes', 'first-event', 'total'];

/** Whether a test needs a stream, or can be judged by what a run left behind. */
export const needsStream = ({ expect }: Pick<SmokeTest, 'expect'>): boolean =>
  expect.some(({ kind }) => ofTheStream.includes(kind));
