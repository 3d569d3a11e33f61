import { Annotation, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  input: Annotation<string>,
  gate: Annotation<string>,
  output: Annotation<string>,
  steps: Annotation<string[]>({ reducer: (before, more) => before.concat(more), default: () => [] }),
});

/** Greets as the echo agent does, once the address `gate` answers: a test decides how long a run takes, and no clock. */
export const gated = new StateGraph(State)
  .addNode('prepare', async () => ({ steps: ['prepare'] }))
  .addNode('answer', async ({ input, gate }, { signal }: LangGraphRunnableConfig) => {
    await fetch(gate, signal ? { signal } : {});
    return { steps: ['answer'], output: `hello ${input}` };
  })
  .addEdge('__start__', 'prepare')
  .addEdge('prepare', 'answer')
  .addEdge('answer', '__end__')
  .compile();
