import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ request: Annotation<string>, answer: Annotation<string> });

/** Interrupts in its second node. */
export const interrupts = new StateGraph(State)
  .addNode('think', async () => ({}))
  .addNode('ask', async ({ request }) => ({
    answer: `${request}: ${String(interrupt({ question: `May I ${request}?` }))}`,
  }))
  .addEdge('__start__', 'think')
  .addEdge('think', 'ask')
  .addEdge('ask', '__end__')
  .compile();
