import type { RunCreate } from '../../contract/agent/run.ts';
import type { FieldProblem } from '../../contract/service-error.ts';
import { didYouMean } from '../../diagnostics/did-you-mean.ts';
import type { Graph } from './graph.ts';

/** The end of a graph: a valid `goto`, but not a node. */
const endNode = '__end__';

/** The names of a graph's nodes, including the engine's own; undefined if unknown. */
export function nodesOf({ nodes }: Pick<Graph, 'nodes'>): string[] | undefined {
  return typeof nodes === 'object' && nodes !== null ? Object.keys(nodes) : undefined;
}

/** Every node that a run names and its graph lacks: the engine would silently ignore it. */
export function nodeProblems(
  { command, interrupt_before, interrupt_after }: Pick<RunCreate, 'command' | 'interrupt_before' | 'interrupt_after'>,
  nodes: readonly string[] | undefined,
): FieldProblem[] {
  if (nodes === undefined) return [];
  const stops = { interrupt_before, interrupt_after };
  const named = [
    ...Object.entries(stops).flatMap(([field, names]) =>
      Array.isArray(names) ? names.map((name, at): Named => ({ loc: [field, at], name })) : [],
    ),
    ...targetsOf(command?.goto),
  ];
  const own = nodes.filter((name) => !name.startsWith('__'));
  const there = own.length === 0 ? 'has none' : `has ${own.map((name) => `"${name}"`).join(', ')}`;
  return named.flatMap(({ loc, name }) => {
    if (nodes.includes(name) || name === endNode) return [];
    const meant = didYouMean(name, own);
    const suggestion = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return [
      { loc: ['body', ...loc], msg: `is no node of this graph, which ${there}${suggestion}`, type: 'value_error' },
    ];
  });
}

interface Named {
  loc: (string | number)[];
  name: string;
}

type Goto = NonNullable<RunCreate['command']>['goto'];

function targetsOf(goto: Goto): Named[] {
  const begin = ['command', 'goto'];
  if (goto === undefined || goto === null) return [];
  if (!Array.isArray(goto)) return [targetAt(begin, goto)];
  return goto.map((target: string | { node: string }, at) => targetAt([...begin, at], target));
}

const targetAt = (loc: (string | number)[], target: string | { node: string }): Named =>
  typeof target === 'string' ? { loc, name: target } : { loc: [...loc, 'node'], name: target.node };
