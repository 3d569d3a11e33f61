import { Annotation, StateGraph } from '@langchain/langgraph';

/** What a commit changes. */
const word = 'first';

const State = Annotation.Root({
  input: Annotation<string>,
  said: Annotation<string>,
  mood: Annotation<string>,
  pid: Annotation<number>,
});

/** Repeats what it is asked, and tells what a journey wants to know of the process that answers. */
export const graph = new StateGraph(State)
  .addNode('talk', async ({ input }) => ({
    said: `${word} ${input}`,
    mood: process.env['MOOD'] ?? 'none',
    pid: process.pid,
  }))
  .addEdge('__start__', 'talk')
  .addEdge('talk', '__end__')
  .compile();
