import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ wish: Annotation<string>, answer: Annotation<string> });

/** Waits for a person in its second node. */
export const asks = new StateGraph(State)
  .addNode('think', async () => ({}))
  .addNode('ask', async ({ wish }) => ({ answer: `${wish}: ${String(interrupt({ question: `May I ${wish}?` }))}` }))
  .addEdge('__start__', 'think')
  .addEdge('think', 'ask')
  .addEdge('ask', '__end__')
  .compile();
