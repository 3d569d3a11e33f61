import { Annotation, StateGraph } from '@langchain/langgraph';
import type { Runtime } from '@langchain/langgraph';
import * as z from 'zod';

const State = Annotation.Root({ said: Annotation<string> });
const Context = z.object({ tone: z.enum(['warm', 'cold']), volume: z.number().optional() });

/** Requires a context. */
export const toned = new StateGraph(State, Context)
  .addNode('speak', async (_, { context }: Runtime<z.infer<typeof Context>>) => ({ said: `${context?.tone} words` }))
  .addEdge('__start__', 'speak')
  .addEdge('speak', '__end__')
  .compile();

/** Created for each run, from the run's configuration. */
export async function made({ configurable }: { configurable?: { word?: string } }) {
  const word = configurable?.word ?? 'nothing';
  return new StateGraph(State)
    .addNode('repeat', async () => ({ said: `${word}, ${process.env['AGENT_MOOD']}` }))
    .addEdge('__start__', 'repeat')
    .addEdge('repeat', '__end__')
    .compile();
}
