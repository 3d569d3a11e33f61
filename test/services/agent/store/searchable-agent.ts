import { temporaryAgent, type TemporaryAgent } from '../temporary-agent.ts';

/** Embeds a text by how often it has the words tea, coffee and sea; a text with `break` fails. */
const embedCode = `
  const words = ['tea', 'coffee', 'sea'];
  export const embed = async (texts: string[]) => {
    if (texts.some((text) => text.includes('break'))) throw new Error('the model broke');
    return texts.map((text) => words.map((word) => text.split(word).length - 1));
  };`;

/** An agent whose store searches by meaning, in a graph too. */
export function searchableAgent(index: object = {}, more: object = {}): TemporaryAgent {
  return temporaryAgent({
    'langgraph.json': {
      graphs: { searches: './searches.ts:graph' },
      store: { index: { dims: 3, embed: './embed.ts:embed', ...index } },
      ...more,
    },
    'embed.ts': embedCode,
    'searches.ts': `
      import { Annotation, StateGraph, getStore } from '@langchain/langgraph';
      const State = Annotation.Root({
        says: Annotation<object>, index: Annotation<unknown>, query: Annotation<string>, found: Annotation<unknown>,
      });
      export const graph = new StateGraph(State)
        .addNode('write', async ({ says, index }, { store }) => {
          for (const [key, value] of Object.entries(says ?? {})) await store.put(['graph'], key, value, index);
          return {};
        })
        .addNode('look', async ({ query }) => {
          const found = await getStore().search(['graph'], { query, limit: 3 });
          return { found: found.map(({ key, score }) => ({ key, score })) };
        })
        .addEdge('__start__', 'write').addEdge('write', 'look').addEdge('look', '__end__').compile();`,
  });
}
