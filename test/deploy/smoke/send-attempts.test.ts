import { expect, test } from 'vitest';
import { sendAttempts } from '../../../src/deploy/smoke/send-attempts.ts';
import { AgentModel, breaks, says } from './agent-model.ts';
import { hello } from '../machine/deploy-fixture.ts';
import { SimulatedClock } from '../machine/simulated-clock.ts';

test.each([
  ['is over before the second request of a pair', says('hello', 999_999_999), says('hello'), [1, 0]],
  ['is over during it', says('hello', 80_000), says('hello', 999_999_999), [1, 1]],
])('no request goes on after the time of the tests, where it %s', async (_, ofLive, ofNew, requests) => {
  const clock = new SimulatedClock();
  const [live, agent] = [new AgentModel(clock, ofLive), new AgentModel(clock, ofNew)];
  const series = { kind: 'live', atOnce: 4, tries: 30, drop: 0.3, decideBy: ['pass-rate'], tests: 1 } as const;
  const until = clock.now() + 100_000;
  const compared = { ...hello, timeoutMs: 120_000, series };
  const { isOutOfTime, attempts } = await sendAttempts(compared, [], { agent, live, clock, random: () => 0.5, until });
  expect([isOutOfTime, attempts.length]).toEqual([true, 2]);
  expect([live.requested.length, agent.requested.length]).toEqual(requests);
  // A hold ends a minute later.
  expect(clock.now() - until).toBeLessThan(30_000);
});

test('does not wait for a provider beyond the time of the tests', async () => {
  const clock = new SimulatedClock();
  const agent = new AgentModel(clock, breaks('429 Too many requests. Try again in 90s'));
  const until = clock.now() + 5_000;
  const { isOutOfTime } = await sendAttempts(hello, [], { agent, clock, random: () => 0.5, until });
  expect(isOutOfTime).toBe(true);
  expect(clock.now()).toBe(until);
});
