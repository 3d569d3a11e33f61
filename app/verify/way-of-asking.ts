import type { Expectation, SmokeTest } from '../../src/config/smoke-test.ts';

/** What is held to the events of a stream: which nodes there were, and when the first and the last event came. */
const ofTheStream: readonly Expectation['kind'][] = ['nodes', 'first-event', 'total'];

/** Whether a test can be judged by what a run left behind, or needs somebody who listens while it goes on. */
export const needsStream = ({ expect }: Pick<SmokeTest, 'expect'>): boolean =>
  expect.some(({ kind }) => ofTheStream.includes(kind));
