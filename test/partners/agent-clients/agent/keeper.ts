import { Annotation, getStore, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ who: Annotation<string>, seen: Annotation<number> });

/** Counts visits in the store, across threads. */
export const keeper = new StateGraph(State)
  .addNode('count', async ({ who }) => {
    const store = getStore();
    const seen = Number((await store?.get(['visits'], who))?.value['times'] ?? 0) + 1;
    await store?.put(['visits'], who, { times: seen });
    return { seen };
  })
  .addEdge('__start__', 'count')
  .addEdge('count', '__end__')
  .compile();
