import { Annotation, StateGraph } from '@langchain/langgraph';
import { slow } from './slow.ts';

const State = Annotation.Root({
  each: Annotation<number>,
  until: Annotation<string | undefined>,
  steps: Annotation<string[]>,
});

/** Has a graph inside that takes its time. */
export const nested = new StateGraph(State)
  .addNode('inside', slow)
  .addEdge('__start__', 'inside')
  .addEdge('inside', '__end__')
  .compile();
