import { afterAll, beforeAll, expect, test } from 'vitest';
import { loggerTo } from '../../logger.ts';
import { loadGraphs } from '../../../src/services/agent/graphs/javascript/load.ts';
import { logWhileLoading } from '../../../src/services/agent/log-while-loading.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';
import { temporaryAgent, type TemporaryAgent } from './temporary-agent.ts';

let agent: TemporaryAgent;
beforeAll(() => {
  agent = temporaryAgent({ 'src/graph.ts': 'await new Promise(() => {});\nexport const graph = 1;' });
});
afterAll(() => agent.remove());

test('a graph that never loads is named every ten seconds, with its file', async () => {
  const lines: string[] = [];
  await new Promise<void>((enough) => {
    const log = loggerTo((line: string): void => {
      if (lines.push(line) === 2) enough();
    });
    const place = { graphId: 'asker', file: './src/graph.ts', exportName: 'graph', description: undefined };
    // It never ends: after two sleeps its time stands still, and the test continues without it.
    let left = 2;
    const clock = new SimulatedClock(0);
    const sleep = (ms: number, signal?: AbortSignal) =>
      left-- > 0 ? clock.sleep(ms, signal) : new Promise<void>(() => {});
    void loadGraphs([place], agent.configPath, { log, clock: { now: () => clock.now(), sleep } });
  });
  expect(lines).toEqual([
    'still loading graph "asker" of src/graph.ts, since 10 s.',
    'still loading graph "asker" of src/graph.ts, since 20 s.',
  ]);
});

test('logs nothing if loading ends in time, and stops its timer', async () => {
  const lines: string[] = [];
  const retryPolicy = { log: loggerTo((line: string) => void lines.push(line)), clock: new SimulatedClock(0) };
  expect(
    await logWhileLoading(
      'it',
      retryPolicy.clock.sleep(9_999).then(() => 7),
      retryPolicy,
    ),
  ).toBe(7);
  await expect(logWhileLoading('it', Promise.reject(new Error('no')), retryPolicy)).rejects.toThrow('no');
  expect(retryPolicy.clock.now()).toBe(9_999);
  expect(lines).toEqual([]);
});
