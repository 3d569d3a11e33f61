import { setTimeout } from 'node:timers/promises';
import { Annotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  notes: Annotation<string[]>({ reducer: (before, more) => before.concat(more), default: () => [] }),
  mood: Annotation<string>,
  sleep_ms: Annotation<number | undefined>,
});

const graph = () =>
  new StateGraph(State)
    .addNode('write', async ({ sleep_ms = 0 }) => {
      await setTimeout(sleep_ms);
      return { notes: ['written'] };
    })
    .addNode('left', async () => ({ notes: ['left'] }))
    .addNode('right', async () => ({ notes: ['right'] }))
    .addNode('sign', async () => ({ notes: ['signed'] }))
    .addEdge('__start__', 'write')
    .addConditionalEdges('write', ({ mood }) => {
      if (mood === 'cross') throw new TypeError('Too cross to go on');
      return ['left', 'right'];
    })
    .addEdge(['left', 'right'], 'sign')
    .addEdge('sign', '__end__');

/** Takes notes: two parallel nodes in the middle. */
export const notes = graph().compile();

/** The same graph from a factory, which requires `please` in the configuration. */
export async function polite({ configurable }: { configurable?: { please?: boolean | 'never' } }) {
  if (configurable?.please === 'never') throw new RangeError('Never say never');
  if (configurable?.please) return graph().compile();
  return new StateGraph(State)
    .addNode('only', async () => ({}))
    .addEdge('__start__', 'only')
    .addEdge('only', '__end__')
    .compile();
}
