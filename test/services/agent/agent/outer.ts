import { Annotation, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({ word: Annotation<string> });

const inner = new StateGraph(State)
  .addNode('shout', async ({ word }, config: LangGraphRunnableConfig) => {
    config.writer?.({ heard: word });
    return { word: word.toUpperCase() };
  })
  .addEdge('__start__', 'shout')
  .addEdge('shout', '__end__')
  .compile();

/** Has a subgraph that streams its own messages. */
export const outer = new StateGraph(State)
  .addNode('inside', inner)
  .addEdge('__start__', 'inside')
  .addEdge('inside', '__end__')
  .compile();
