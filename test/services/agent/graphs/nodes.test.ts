import { expect, test } from 'vitest';
import { nodeProblems, nodesOf } from '../../../../src/services/agent/runs/acceptance.ts';

const nodes = ['__start__', 'ask', 'finish'];
type Requested = Parameters<typeof nodeProblems>[0];

test.each<[string, Requested, string[]]>([
  ['existing nodes', { interrupt_before: ['ask'], interrupt_after: '*', command: { goto: 'finish' } }, []],
  ['the end', { command: { goto: '__end__' } }, []],
  [
    'an interrupt at an unknown node',
    { interrupt_before: ['ask', 'finsh'] },
    ['body.interrupt_before.1: is no node of this graph, which has "ask", "finish"; did you mean "finish"?'],
  ],
  [
    'a goto to an unknown node',
    { command: { goto: 'nowhere' } },
    ['body.command.goto: is no node of this graph, which has "ask", "finish"'],
  ],
  [
    'a send to an unknown node',
    { command: { goto: [{ node: 'nowhere', input: 1 }] } },
    ['body.command.goto.0.node: is no node of this graph, which has "ask", "finish"'],
  ],
])('checks a run that names %s', (_, requested, reported) => {
  expect(nodeProblems(requested, nodes).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)).toEqual(reported);
});

test("accepts every name if the graph's nodes are unknown", () => {
  expect(nodeProblems({ command: { goto: 'nowhere' } }, nodesOf({}))).toEqual([]);
});
