import { expect, test } from 'vitest';
import * as z from 'zod';
import { tracedStep } from '../../../../src/contract/control/tracing-project.ts';
import { StepRecorder } from '../../../../src/services/agent/tracing/step-recorder.ts';

const described = z.object({ steps: z.array(tracedStep), is_cut: z.boolean() });

/** @param values the input and the output of the run. */
function recorder(values: unknown = null) {
  const steps = new StepRecorder({ inputs: false, outputs: false }, () => 0);
  const { handler } = steps;
  return {
    run(name: string, input: unknown, end: { output: unknown } | { error: unknown }, namespace = `${name}:1`) {
      const metadata = { langgraph_node: name, langgraph_checkpoint_ns: namespace };
      handler.handleChainStart(undefined, input, name, undefined, ['graph:step:1'], metadata);
      if ('error' in end) handler.handleChainError(end.error, name);
      else handler.handleChainEnd(end.output, name);
    },
    json: () => steps.describe(values, values),
  };
}

test('a step that fails after the bound of the run is used up has its error', () => {
  const recording = recorder();
  for (let n = 0; n < 30; n += 1) recording.run(`step-${n}`, 'x'.repeat(20_000), { output: null });
  recording.run('last', 'x', { error: new TypeError(`no model ${'y'.repeat(20_000)}`) });
  const last = described.parse(JSON.parse(recording.json())).steps.at(-1);
  expect(last).toMatchObject({
    name: 'last',
    error: expect.stringMatching(/^TypeError: no model y{900,} \[\.\.\.\]$/),
  });
});

test('a step that failed names the class of its error, and what caused it', () => {
  class NoModel extends Error {}
  const recording = recorder();
  recording.run('ask', 'x', { error: new NoModel('no model', { cause: new TypeError('fetch failed') }) });
  expect(described.parse(JSON.parse(recording.json())).steps).toMatchObject([
    { error: 'NoModel: no model\nCaused by: TypeError: fetch failed' },
  ]);
});

test('a step with a cut error says so', () => {
  const recording = recorder();
  recording.run('short', 'x', { error: new Error('no model') });
  recording.run('long', 'x', { error: new Error('y'.repeat(20_000)) });
  expect(described.parse(JSON.parse(recording.json())).steps.map(({ is_cut }) => is_cut)).toEqual([false, true]);
});

test.each([
  ['names', '\u0001'.repeat(255), 'x', { output: 'x' }],
  ['values', 'name', '\u0001é'.repeat(20_000), { output: '\u0001é'.repeat(20_000) }],
  ['errors', 'name', 'x', { error: new Error('\u0001'.repeat(20_000)) }],
])('a run with long %s has at most 256 KiB, most of it used', (_, name, input, end) => {
  const recording = recorder(input);
  const namespace = `${`${name}:1|`.repeat(20)}${name}:1`;
  for (let n = 0; n < 200; n += 1) recording.run(name, input, end, namespace);
  const json = recording.json();
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(256 * 1024);
  expect(Buffer.byteLength(json)).toBeGreaterThan(200 * 1024);
  expect(described.parse(JSON.parse(json)).is_cut).toBe(true);
});

test('a run of 200 steps with long values has every step', () => {
  const recording = recorder();
  for (let n = 0; n < 200; n += 1) recording.run(`step-${n}`, 'x'.repeat(20_000), { output: 'x'.repeat(20_000) });
  const { steps, is_cut } = described.parse(JSON.parse(recording.json()));
  expect([steps.length, is_cut]).toEqual([200, false]);
});
