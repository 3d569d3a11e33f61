import { Annotation, interrupt, Send, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  /** What to ask for: a precise place or not. */
  precise: Annotation<boolean[]>,
  places: Annotation<string[]>({ reducer: (before, more) => [...before, ...more].toSorted(), default: () => [] }),
});

/** Has its client find out where it is, by the client's own tool `place`. */
export const locator = new StateGraph(State)
  .addNode('locate', async (precise: boolean) => {
    const id = `call-${precise}`;
    const results: unknown = interrupt({ type: 'tool', toolCall: { id, name: 'place', args: { precise } } });
    return { places: [String(Reflect.get(Object(results), id))] };
  })
  .addConditionalEdges('__start__', ({ precise }) => precise.map((each) => new Send('locate', each)), ['locate'])
  .addEdge('locate', '__end__')
  .compile();
