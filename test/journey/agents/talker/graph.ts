import { Annotation, StateGraph } from '@langchain/langgraph';

/** Changed by a commit. */
const word = 'first';

const State = Annotation.Root({
  input: Annotation<string>,
  said: Annotation<string>,
  mood: Annotation<string>,
  pid: Annotation<number>,
});

/** Repeats its input, and reports the process that serves it. */
export const graph = new StateGraph(State)
  .addNode('talk', async ({ input }) => ({
    said: `${word} ${input}`,
    mood: process.env['MOOD'] ?? 'none',
    pid: process.pid,
  }))
  .addEdge('__start__', 'talk')
  .addEdge('talk', '__end__')
  .compile();
