import { expect, test } from 'vitest';
import * as z from 'zod';
import { tracedStep } from '../../../src/contract/control/tracing-project.ts';
import { StepRecorder } from '../../../src/agent-server/tracing/step-recorder.ts';

const described = z.object({ steps: z.array(tracedStep), is_cut: z.boolean() });

function recorder() {
  const steps = new StepRecorder({ inputs: false, outputs: false }, () => 0);
  const { handler } = steps;
  return {
    run(name: string, input: unknown, end: { output: unknown } | { error: unknown }, namespace = `${name}:1`) {
      const metadata = { langgraph_node: name, langgraph_checkpoint_ns: namespace };
      handler.handleChainStart(undefined, input, name, undefined, ['graph:step:1'], metadata);
      if ('error' in end) handler.handleChainError(end.error, name);
      else handler.handleChainEnd(end.output, name);
    },
    json: () => steps.describe(null, null),
  };
}

test('a step that fails after the bound of the run is used up has its error', () => {
  const recording = recorder();
  for (let n = 0; n < 30; n += 1) recording.run(`step-${n}`, 'x'.repeat(20_000), { output: null });
  recording.run('last', 'x', { error: new TypeError(`no model ${'y'.repeat(20_000)}`) });
  const last = described.parse(JSON.parse(recording.json())).steps.at(-1);
  expect(last).toMatchObject({ name: 'last', error: expect.stringMatching(/^TypeError: no model y{900,}…$/) });
});

test('the steps of a run fit into one request, also with long names and errors', () => {
  const recording = recorder();
  const long = '\u0001'.repeat(255);
  const namespace = `${`${long}:1|`.repeat(20)}${long}:1`;
  for (let n = 0; n < 200; n += 1) recording.run(long, long, { error: new Error('\u0001'.repeat(20_000)) }, namespace);
  expect(Buffer.byteLength(recording.json())).toBeLessThan(700 * 1024);
  expect(described.parse(JSON.parse(recording.json())).is_cut).toBe(true);
});
