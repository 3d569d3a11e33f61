import { expect, test } from 'vitest';
import type { Clock } from '../../../src/kit/clock.ts';
import type { ReportedLine, WorkReport } from '../../../src/contract/control/listener-work.ts';
import { ServiceError } from '../../../src/contract/service-error.ts';
import { createReporter } from '../../../src/services/listener/reporter.ts';

const unreachable = new ServiceError({
  kind: 'unreachable',
  operation: 'report',
  method: 'PUT',
  address: 'http://control.example.com',
  effect: 'unknown',
});

/** A service that may be unavailable, and a clock that stands still until it is advanced. */
function fixture() {
  const received: ReportedLine[] = [];
  const state = { isAway: false };
  const sleepers: (() => void)[] = [];
  const clock: Clock = { now: () => 7, sleep: () => new Promise((resolve) => sleepers.push(resolve)) };
  const { write } = createReporter({
    send: async ({ log }: WorkReport) => {
      if (state.isAway) throw unreachable;
      received.push(...(log ?? []));
      return { claim_id: 'c', expires_at: '2027-01-01T00:00:00Z', wanted: true };
    },
    lost: new AbortController().signal,
    clock,
    random: () => 0,
  });
  const passTime = async (): Promise<void> => {
    while (sleepers.length === 0) await new Promise((resolve) => setImmediate(resolve));
    for (const wake of sleepers.splice(0)) wake();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { write, received, state, passTime };
}

test('sends lines again once the service is back, though no line follows', async () => {
  const { write, received, state, passTime } = fixture();
  state.isAway = true;
  write('error', 'the last words');
  await passTime();
  expect(received).toEqual([]);
  state.isAway = false;
  await passTime();
  expect(received).toMatchObject([{ sequence: 1, level: 'error', message: 'the last words' }]);
});

test('says how many lines are missing of very many unsent ones', async () => {
  const { write, received, state, passTime } = fixture();
  write('info', 'one');
  await passTime();
  state.isAway = true;
  for (let number = 0; number < 5_003; number += 1) write('info', `line ${number}`);
  await passTime();
  state.isAway = false;
  await passTime();
  const message = '[3 lines left out: the control service could not be reached]';
  expect(received[1]).toMatchObject({ sequence: 4, level: 'warning', message });
  expect(received[2]).toMatchObject({ sequence: 5, message: 'line 3' });
  expect(received.at(-1)).toMatchObject({ sequence: 5_004, message: 'line 5002' });
  expect(new Set(received.map(({ sequence }) => sequence)).size).toBe(received.length);
});
