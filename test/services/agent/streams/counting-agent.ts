import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

/**
 * An agent whose graph streams the numbers from 0 to `to`, every `every` milliseconds, each with `size` characters of
 * padding.
 */
export const countingAgent = (): TemporaryAgent =>
  temporaryAgent({
    'langgraph.json': { graphs: { counts: './counts.ts:counts' } },
    'counts.ts': `
      import { Annotation, StateGraph } from '@langchain/langgraph';
      const State = Annotation.Root({ to: Annotation<number>, every: Annotation<number>, size: Annotation<number>, done: Annotation<boolean> });
      export const counts = new StateGraph(State)
        .addNode('count', async ({ to, every, size }, { writer }) => {
          for (let n = 0; n < to; n += 1) {
            await new Promise((resolve) => setTimeout(resolve, every ?? 0));
            writer?.({ n, padding: 'x'.repeat(size ?? 0) });
          }
          return { done: true };
        })
        .addEdge('__start__', 'count')
        .compile();`,
  });

/** The numbers in the events of a stream, in order. */
export const numbersIn = (events: readonly { event: string; data: unknown }[]): unknown[] =>
  events.flatMap(({ event, data }) => (event === 'custom' ? [Object(data).n] : []));
