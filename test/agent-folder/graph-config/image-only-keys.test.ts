import { expect, test } from 'vitest';
import { dockerfileVariables } from '../../../src/agent-folder/graph-config/image-only-keys.ts';
import { readGraphConfig } from '../../../src/agent-folder/graph-config/read.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

function saidOf(keys: object, graph = './agent.py:graph'): string[] {
  const read = readGraphConfig(JSON.stringify({ graphs: { agent: graph }, ...keys }, undefined, 1), 'langgraph.json');
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
  return read.imageOnly.map(formatProblem);
}

test('lines of a Dockerfile are named with their places, but for variables', () => {
  expect(saidOf({ dockerfile_lines: ['ENV A=b', '', '# why', 'RUN apt-get install ffmpeg'] })).toEqual([
    expect.stringMatching(
      /^langgraph\.json:9:3: `dockerfile_lines\[3\]` needs an image, .* process\. Install on the machine/,
    ),
  ]);
});

test.each<[string, object, number]>([
  ['another image', { base_image: 'nvidia/cuda:12' }, 1],
  ["the public server's image", { base_image: 'langchain/langgraph-api:3.11' }, 0],
  ['no image', { base_image: null }, 0],
])('%s', (_, keys, count) => expect(saidOf(keys)).toHaveLength(count));

test('graphs in other languages need no image for them', () => {
  expect(saidOf({ base_image: 'nvidia/cuda:12', dockerfile_lines: ['RUN x'] }, './agent.ts:graph')).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ['ENV A=b', { A: 'b' }],
  ['env A b c', { A: 'b c' }],
  ['ENV A="b c" B=d\\ e \\\n  C=f', { A: 'b c', B: 'd e', C: 'f' }],
  ['ENV A="say \\"x\\""', { A: 'say "x"' }],
  ['RUN A=b', {}],
])('the variables of %j', (line, variables) => expect(dockerfileVariables([line])).toEqual(variables));
