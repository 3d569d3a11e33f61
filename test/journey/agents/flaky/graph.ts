import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Annotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ input: Annotation<string>, said: Annotation<string> });

let answers = 0;

/** Inputs that take a while (ms). */
const pauses = new Map([
  ['in a moment', 3_000],
  ['slowly', 60_000],
]);

/** From 0 up to 1, from the seed and the number of the answer: each start of a revision answers the same again. */
function draw(): number {
  answers += 1;
  const seed = `${process.env['SEED'] ?? ''}:${answers}`;
  return createHash('sha256').update(seed).digest().readUInt32BE() / 2 ** 32;
}

/** Is right in as many of its answers as PASS_RATE says, as an agent with a model is. */
export const graph = new StateGraph(State)
  .addNode('talk', async ({ input }) => {
    await pause(pauses.get(input) ?? 0);
    return { said: draw() < Number(process.env['PASS_RATE'] ?? 1) ? '30 days' : '14 days' };
  })
  .addEdge('__start__', 'talk')
  .addEdge('talk', '__end__')
  .compile();
