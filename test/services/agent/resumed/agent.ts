import { temporaryAgent } from '../temporary-agent.ts';

/** Ids of the runs with a node that is blocking. */
export const waiting = (): unknown[] => Object(Reflect.get(globalThis, 'waitingRuns') ?? []);

/**
 * An agent whose graphs interrupt, and whose `wait` nodes block during the first attempt, so that another process has to
 * continue. Each node records in `path` that it ran, and the answer it received.
 */
export const askingAgent = () =>
  temporaryAgent({
    'langgraph.json': {
      graphs: Object.fromEntries(
        ['chain', 'twice', 'within', 'plain', 'both', 'thrice', 'fails', 'spread'].map((id) => [
          id,
          `./asking.ts:${id}`,
        ]),
      ),
    },
    'asking.ts': `
      import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';
      const State = Annotation.Root({
        stay: Annotation<boolean>,
        path: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
      });
      const graph = () => new StateGraph(State);
      /** Blocks during the first attempt; later attempts continue at once. */
      const wait = async (state, { signal, metadata }) => {
        if (!state.stay || metadata.run_attempt > 1) return;
        (globalThis.waitingRuns ??= []).push(metadata.run_id);
        await new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      };
      const said = (question, answer) => ({ path: [question + ' ' + JSON.stringify(answer)] });
      const question = (text) => async () => said(text, interrupt(text));
      const waits = async (state, config) => {
        await wait(state, config);
        return { path: ['waited'] };
      };
      export const chain = graph()
        .addNode('ask1', question('first?'))
        .addNode('wait', waits)
        .addNode('ask2', question('second?'))
        .addEdge('__start__', 'ask1').addEdge('ask1', 'wait').addEdge('wait', 'ask2').compile();
      export const twice = graph()
        .addNode('ask', async (state, config) => {
          const first = interrupt('first?');
          await wait(state, config);
          return said('both', [first, interrupt('second?')]);
        })
        .addEdge('__start__', 'ask').compile();
      export const thrice = graph()
        .addNode('ask', async () => said('all', [interrupt('first?'), interrupt('second?'), interrupt('third?')]))
        .addEdge('__start__', 'ask').compile();
      export const within = graph()
        .addNode('before', async () => ({ path: ['before'] }))
        .addNode('inside', chain)
        .addEdge('__start__', 'before').addEdge('before', 'inside').compile();
      export const plain = graph()
        .addNode('one', async () => ({ path: ['one'] }))
        .addNode('two', waits)
        .addNode('three', async () => ({ path: ['three'] }))
        .addEdge('__start__', 'one').addEdge('one', 'two').addEdge('two', 'three').compile();
      export const both = graph()
        .addNode('left', question('left?'))
        .addNode('right', question('right?'))
        .addEdge('__start__', 'left').addEdge('__start__', 'right').compile();
      export const spread = graph()
        .addNode('quick', async () => ({ path: ['quick'] }))
        .addNode('ask', async (state, config) => {
          const first = interrupt('first?');
          await wait(state, config);
          return said('first?', first);
        })
        .addEdge('__start__', 'quick').addEdge('__start__', 'ask').compile();
      export const fails = graph()
        .addNode('ask', async (state) => {
          const answer = interrupt('first?');
          if (answer === 'bad') throw new Error('broke');
          if (answer === 'wait') await new Promise((resolve) => setTimeout(resolve, 600_000).unref());
          return said('first?', answer);
        })
        .addEdge('__start__', 'ask').compile();`,
  });
