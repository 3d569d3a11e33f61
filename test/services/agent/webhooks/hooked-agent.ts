import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

/**
 * The agent of the webhook tests: its graph `hook` repeats `word`, sleeps `sleep_ms`, fails with `fail`, and interrupts
 * with `ask`.
 */
export const hookedAgent = (config: object = {}): TemporaryAgent =>
  temporaryAgent({
    'langgraph.json': { graphs: { hook: './hook.ts:hook' }, ...config },
    'hook.ts': `
      import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';
      class OutOfInk extends Error {}
      const State = Annotation.Root({
        word: Annotation<string>,
        sleep_ms: Annotation<number>,
        fail: Annotation<string>,
        ask: Annotation<boolean>,
        said: Annotation<string>,
        steps: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
      });
      export const hook = new StateGraph(State)
        .addNode('prepare', async () => ({ steps: ['prepare'] }))
        .addNode('say', async ({ word, sleep_ms, fail, ask }, { signal }) => {
          if (sleep_ms) await new Promise((resolve, reject) => {
            setTimeout(resolve, sleep_ms);
            signal?.addEventListener('abort', () => reject(signal.reason));
          });
          if (fail) throw new OutOfInk(fail);
          if (ask) interrupt('May I?');
          return { said: 'said ' + word, steps: ['say'] };
        })
        .addEdge('__start__', 'prepare')
        .addEdge('prepare', 'say')
        .addEdge('say', '__end__')
        .compile();`,
  });
