import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

/**
 * An agent for the tests of webhooks: its graph `hook` says `word` back, waits `sleep_ms`, fails where `fail` says so, and
 * asks a person where `ask` does.
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
