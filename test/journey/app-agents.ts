// Agents in this process: one real agent server for each word that a commit makes its agent say.
import { systemClock } from '../../src/kit/clock.ts';
import { temporaryAgent, type TemporaryAgent } from '../services/agent/temporary-agent.ts';
import { serveAgent, type Serving } from '../services/agent/serving.ts';

const graph = (word: string): string => `import { Annotation, StateGraph } from '@langchain/langgraph';
const State = Annotation.Root({ input: Annotation<string>, said: Annotation<string> });
export const graph = new StateGraph(State)
  .addNode('talk', async ({ input }) => ({ said: ${JSON.stringify(`${word} `)} + input }))
  .addEdge('__start__', 'talk')
  .addEdge('talk', '__end__')
  .compile();
`;

/** The agents of a journey. Each starts when a commit first needs its word. */
export interface Agents {
  /** Where the agent that says this word answers. */
  saying(word: string): Promise<string>;
  close(): Promise<void>;
}

/** Makes no agent yet. Their one graph is `talk`: it answers `{ said: "<word> <input>" }`. */
export function agentsByWord(): Agents {
  const started = new Map<string, Promise<{ serving: Serving; files: TemporaryAgent }>>();
  const start = async (word: string) => {
    const files = temporaryAgent({
      'langgraph.json': { node_version: '24', graphs: { talk: './graph.ts:graph' } },
      'graph.ts': graph(word),
    });
    try {
      return { serving: await serveAgent({ configPath: files.configPath, clock: systemClock }), files };
    } catch (error) {
      files.remove();
      throw error;
    }
  };
  return {
    async saying(word) {
      const made = started.get(word) ?? start(word);
      started.set(word, made);
      return (await made).serving.url;
    },
    async close() {
      for (const made of started.values()) {
        const { serving, files } = await made;
        await serving.close();
        files.remove();
      }
    },
  };
}
