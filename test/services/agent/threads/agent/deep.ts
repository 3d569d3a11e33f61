import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  request: Annotation<string>,
  answer: Annotation<string>,
  path: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

const innermost = new StateGraph(State)
  .addNode('ask', async ({ request }) => ({
    answer: `${request}: ${String(interrupt({ question: `May I ${request}?` }))}`,
  }))
  .addEdge('__start__', 'ask')
  .addEdge('ask', '__end__')
  .compile();

const middle = new StateGraph(State)
  .addNode('before', async () => ({ path: ['before'] }))
  .addNode('inner', innermost)
  .addEdge('__start__', 'before')
  .addEdge('before', 'inner')
  .addEdge('inner', '__end__')
  .compile();

/** Interrupts in a subgraph of a subgraph. */
export const deep = new StateGraph(State)
  .addNode('first', async () => ({ path: ['first'] }))
  .addNode('middle', middle)
  .addNode('last', async () => ({ path: ['last'] }))
  .addEdge('__start__', 'first')
  .addEdge('first', 'middle')
  .addEdge('middle', 'last')
  .addEdge('last', '__end__')
  .compile();
