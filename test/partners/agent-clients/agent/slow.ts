import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  /** How long (ms) each step takes. */
  each: Annotation<number>,
  /** An address that answers once the second step may begin. */
  until: Annotation<string | undefined>,
  steps: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

const step = (name: string) => async (state: typeof State.State, config: LangGraphRunnableConfig) => {
  if (name === 'second' && state.until !== undefined) await fetch(state.until, { signal: config.signal ?? null });
  await sleep(state.each, undefined, config.signal ? { signal: config.signal } : {});
  return { steps: [name] };
};

/** Takes its time, in three steps. */
export const slow = new StateGraph(State)
  .addNode('first', step('first'))
  .addNode('second', step('second'))
  .addNode('third', step('third'))
  .addEdge('__start__', 'first')
  .addEdge('first', 'second')
  .addEdge('second', 'third')
  .addEdge('third', '__end__')
  .compile();
