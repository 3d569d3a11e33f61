// Trajectories are held to a reference as `agentevals` holds them: the same generated ones with both.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { ReferenceTrajectory } from '../../../src/deploy/file/smoke-test.ts';
import { readMessage } from '../../../src/deploy/file/written-trajectory.ts';
import { createFormatter } from '../../../src/deploy/words/format-expectation.ts';
import { checkTrajectory } from '../../../src/deploy/rules/trajectory.ts';
import { randomFrom } from '../../random-from.ts';
import { installPackages } from '../install-packages.ts';

const modes = ['strict', 'unordered', 'subset', 'superset'] as const;
const args = ['exact', 'ignore', 'subset', 'superset'] as const;

type Evaluator = (given: { outputs: unknown; referenceOutputs: unknown }) => Promise<{ score: boolean }>;
interface AgentEvals {
  createTrajectoryMatchEvaluator: (options: {
    trajectoryMatchMode: (typeof modes)[number];
    toolArgsMatchMode: (typeof args)[number];
  }) => Evaluator;
}

await installPackages(import.meta.dirname);
const entry = pathToFileURL(join(import.meta.dirname, 'node_modules/agentevals/index.js')).href;
const { createTrajectoryMatchEvaluator }: AgentEvals = await import(entry);

const random = randomFrom(1);
const upTo = (most: number): number => Math.floor(random() * (most + 1));
function oneOf<Value>(values: readonly Value[]): Value {
  const value = values[upTo(values.length - 1)];
  if (value === undefined) throw new Error('there is nothing to choose from');
  return value;
}
const listOf = <Value>(most: number, make: () => Value): Value[] => Array.from({ length: upTo(most) }, make);

const call = () => ({
  id: 'call',
  type: 'function',
  function: {
    name: oneOf(['search', 'refund']),
    arguments: JSON.stringify(oneOf([{}, { id: 7 }, { id: 8 }, { id: 7, of: { a: [1] } }, { id: 7, of: { a: [2] } }])),
  },
});
const message = () => {
  const role = oneOf(['user', 'assistant', 'assistant', 'assistant', 'tool']);
  return { role, content: oneOf(['hello', 'bye']), ...(role === 'assistant' ? { tool_calls: listOf(2, call) } : {}) };
};

/** Another trajectory, or one with a message less, more, or in another place: most of those that match are like that. */
function changed(messages: readonly unknown[]): unknown[] {
  const at = upTo(messages.length);
  return oneOf([
    () => listOf(3, message),
    () => [...messages],
    () => messages.toSpliced(at, 1),
    () => messages.toSpliced(at, 0, message()),
    () => messages.toReversed(),
  ])();
}

const words = createFormatter((text) => text);
const generated = Array.from({ length: 1_000 }, () => {
  const seen = listOf(3, message);
  return { seen, reference: changed(seen) };
});

test.each(modes.flatMap((mode) => args.map((each) => [mode, each] as const)))(
  'holds trajectories to a reference as agentevals does: %s, arguments %s',
  async (mode, ofArgs) => {
    const evaluator = createTrajectoryMatchEvaluator({ trajectoryMatchMode: mode, toolArgsMatchMode: ofArgs });
    let matching = 0;
    for (const { seen, reference } of generated) {
      const { score } = await evaluator({ outputs: seen, referenceOutputs: reference });
      const ours: ReferenceTrajectory = {
        path: '$.messages',
        mode,
        args: ofArgs,
        messages: reference.flatMap((each) => readMessage(each) ?? []),
      };
      // We refuse to compare nothing, which there matches nothing.
      const held = seen.length > 0 ? checkTrajectory(ours, [seen], words).held : score;
      expect({ seen, reference, held }).toEqual({ seen, reference, held: score });
      if (score) matching += 1;
    }
    expect(matching).toBeGreaterThan(100);
    expect(matching).toBeLessThan(900);
  },
);
