import { setTimeout as pause } from 'node:timers/promises';
import { Annotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  input: Annotation<string>,
  said: Annotation<string>,
  messages: Annotation<unknown[]>({ reducer: (former, more) => [...former, ...more], default: () => [] }),
});

/** What is to be planted: `slow`, `costly` or `path`. */
const planted = process.env['PLANTED'];
let answers = 0;

/** A message of a model, with the tokens that it took. */
const message = () => ({
  type: 'ai',
  content: '30 days',
  usage_metadata: {
    input_tokens: planted === 'costly' ? 800 : 400,
    output_tokens: 40,
    total_tokens: planted === 'costly' ? 840 : 440,
  },
  response_metadata: { model_name: 'stub-2026-01-01' },
  tool_calls: [],
});

/** Takes 300 ms, and is always right. */
export const graph = new StateGraph(State)
  .addNode('look', () => ({}))
  .addNode('guess', () => ({}))
  .addNode('talk', async () => {
    // Slower by far more than a busy machine makes one of two agents.
    await pause(planted === 'slow' ? 2_000 : 300);
    return { said: '30 days', messages: [message()] };
  })
  .addConditionalEdges('__start__', () => {
    answers += 1;
    return planted === 'path' && answers % 3 === 0 ? 'guess' : 'look';
  })
  .addEdge('look', 'talk')
  .addEdge('guess', 'talk')
  .addEdge('talk', '__end__')
  .compile();
