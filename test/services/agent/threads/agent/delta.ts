import { Annotation, DeltaChannel, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  lines: () =>
    new DeltaChannel<string[], string[]>((before, writes) => [...before, ...writes.flat()], {
      initialValueFactory: () => [],
    }),
});

/** Stores only the changes of each state. */
export const delta = new StateGraph(State)
  .addNode('one', async () => ({ lines: ['one'] }))
  .addNode('two', async () => ({ lines: ['two'] }))
  .addEdge('__start__', 'one')
  .addEdge('one', 'two')
  .addEdge('two', '__end__')
  .compile();
