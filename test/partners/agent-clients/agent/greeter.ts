import { Annotation, StateGraph } from '@langchain/langgraph';
import type { Runtime } from '@langchain/langgraph';
import * as z from 'zod';

const State = Annotation.Root({
  input: Annotation<string>,
  fail: Annotation<string | null>,
  output: Annotation<string>,
});
const Context = z.object({ greeting: z.string().optional() });

/** Clients see its name as the error type. */
class RequestedFailure extends Error {
  override name = 'RequestedFailure';
}

/** Greets with the greeting of its context, or fails on request. */
export const greeter = new StateGraph(State, Context)
  .addNode('greet', async ({ input, fail }, { context }: Runtime<z.infer<typeof Context>>) => {
    if (fail) throw new RequestedFailure(fail);
    return { output: `${context?.greeting ?? 'hello'} ${input}` };
  })
  .addEdge('__start__', 'greet')
  .addEdge('greet', '__end__')
  .compile();
