import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

/** An agent whose graphs use the store in every way that the engine offers. */
export function rememberingAgent(store?: object): TemporaryAgent {
  return temporaryAgent({
    'langgraph.json': {
      graphs: { remembers: './remembers.ts:graph', made: './remembers.ts:made' },
      ...(store === undefined ? {} : { store }),
    },
    'remembers.ts': `
      import { Annotation, InMemoryStore, StateGraph, getStore } from '@langchain/langgraph';
      const State = Annotation.Root({
        user: Annotation<string>, says: Annotation<object>, bad: Annotation<boolean>,
        heard: Annotation<unknown>, found: Annotation<unknown>, places: Annotation<unknown>,
      });
      const inner = new StateGraph(State)
        .addNode('look', async ({ user }) => {
          const found = await getStore().search(['users', user], { filter: { kind: { $ne: 'secret' } } });
          return { found: found.map(({ key, value }) => ({ key, value })) };
        })
        .addEdge('__start__', 'look').addEdge('look', '__end__').compile();
      const builder = new StateGraph(State)
        .addNode('write', async ({ user, says, bad }, config) => {
          if (bad) await config.store.put(['a.b'], 'k', {});
          if (says) await config.store.put(['users', user], 'last', says);
          const item = await config.store.get(['users', user], 'last');
          return { heard: item && { value: item.value, isDate: item.updatedAt instanceof Date } };
        })
        .addNode('inside', inner)
        .addNode('list', async ({ user }, { store }) => ({ places: await store.listNamespaces({ suffix: [user] }) }))
        .addEdge('__start__', 'write').addEdge('write', 'inside').addEdge('inside', 'list').addEdge('list', '__end__');
      // The deployment's store replaces the graph's own.
      export const graph = builder.compile({ store: new InMemoryStore() });
      export const made = async () => builder.compile();`,
  });
}
