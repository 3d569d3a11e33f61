import { Annotation, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({ word: Annotation<string> });

const inner = new StateGraph(State)
  .addNode('shout', async ({ word }, config: LangGraphRunnableConfig) => {
    config.writer?.({ heard: word });
    return { word: word.toUpperCase() };
  })
  .addNode('breathe', async () => ({}))
  .addEdge('__start__', 'shout')
  .addEdge('shout', 'breathe')
  .addEdge('breathe', '__end__')
  .compile();

/** Has a graph inside, which says something of its own. */
export const outer = new StateGraph(State)
  .addNode('inside', inner)
  .addEdge('__start__', 'inside')
  .addEdge('inside', '__end__')
  .compile();
