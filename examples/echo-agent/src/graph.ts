import { END, START, StateGraph } from '@langchain/langgraph';
import type { Runtime } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import * as z from 'zod';

/** What an assistant may set: the word that every answer begins with. */
const Context = z.object({ greeting: z.string().optional() });

const Options = z.object({
  sleep_ms: z.number().min(0).max(600_000).nullish().describe('How long the answer takes, in milliseconds.'),
  fail: z.string().nullish().describe('The message to fail with.'),
});

/** What a run takes: the console makes a form of it. */
const Input = z.object({ input: z.string().describe('The name to greet.'), ...Options.shape });

/** What the graph leaves on a thread: `steps` remembers every node that ran there. */
const State = z.object({
  ...Input.shape,
  options: Options.optional(),
  output: z.string().optional(),
  steps: z.array(z.string()).register(registry, {
    reducer: { fn: (before: string[], more: string[]) => [...before, ...more] },
    default: () => [],
  }),
});
type State = z.infer<typeof State>;

/** The agent server reports the name as the type of the error. */
class RequestedFailure extends Error {
  override name = 'RequestedFailure';
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

// A thread keeps the input of a run. Move this run's options aside, so that the next run starts without them.
async function prepare({ sleep_ms, fail }: State) {
  return { steps: ['prepare'], options: { sleep_ms, fail }, sleep_ms: null, fail: null };
}

async function answer({ input, options }: State, runtime: Runtime<z.infer<typeof Context>>) {
  if (options?.sleep_ms) await wait(options.sleep_ms, runtime.signal);
  if (options?.fail) throw new RequestedFailure(options.fail);
  return { steps: ['answer'], output: `${runtime.context?.greeting ?? 'hello'} ${input}` };
}

export const graph = new StateGraph({ state: State, input: Input, context: Context })
  .addNode('prepare', prepare)
  .addNode('answer', answer)
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'answer')
  .addEdge('answer', END)
  .compile();
