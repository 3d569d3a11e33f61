import { appendFileSync } from 'node:fs';
import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

/** Callers see its name as the error type. */
class RequestedFailure extends Error {
  override name = 'RequestedFailure';
}

const State = Annotation.Root({
  /** Identifies the request: it appears in the steps, the response and the file of marks. */
  mark: Annotation<string>,
  sleep_ms: Annotation<number>,
  fail: Annotation<boolean>,
  ask: Annotation<boolean>,
  output: Annotation<string>,
  steps: Annotation<string[]>({ reducer: (before, more) => before.concat(more), default: () => [] }),
});

/** Appends a line per node start to the file of marks, which outlives the process. */
function note(node: string, mark: string): void {
  appendFileSync(process.env['SOAK_MARKS'] ?? '', `${node} ${mark}\n`);
}

const wait = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/** Records every node that ran; sleeps, fails or interrupts as its input says. */
export const soak = new StateGraph(State, Annotation.Root({ greeting: Annotation<string> }))
  .addNode('prepare', async ({ mark }) => {
    note('prepare', mark);
    return { steps: [`prepare ${mark}`] };
  })
  .addNode('answer', async ({ mark, sleep_ms, fail, ask }, { context, signal }: LangGraphRunnableConfig) => {
    note('answer', mark);
    if (sleep_ms) await wait(sleep_ms, signal);
    if (fail) throw new RequestedFailure(mark);
    if (ask) interrupt('May I?');
    return { steps: [`answer ${mark}`], output: `${context?.['greeting'] ?? 'hello'} ${mark}` };
  })
  .addEdge('__start__', 'prepare')
  .addEdge('prepare', 'answer')
  .addEdge('answer', '__end__')
  .compile();
