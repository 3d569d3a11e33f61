import ts from 'typescript-5';
import { afterAll, expect, test } from 'vitest';
import { readSchemas } from '../../../../../../src/services/agent/graphs/javascript/static-schemas/read-schemas.ts';
import { temporaryAgent } from '../../../temporary-agent.ts';

const agent = temporaryAgent({
  'graphs.ts': `
    import { Annotation, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
    import { inner } from './inner.ts';
    const State = Annotation.Root({
      ...MessagesAnnotation.spec,
      /** What it is about. */
      topic: Annotation<string>,
      tags: Annotation<string[], string | string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
    });
    const Context = Annotation.Root({ model: Annotation<'small' | 'large'> });
    const builder = new StateGraph(State, Context).addNode('inner', inner).addNode({ again: inner }).addEdge('__start__', 'inner');
    export const compiled = builder.compile();
    export { builder };
    export const make = async (config: { configurable: object }) => builder;
    export const agent = { graph: compiled };
    export const parts = new StateGraph({
      stateSchema: State,
      input: Annotation.Root({ topic: Annotation<string> }),
      output: Annotation.Root({ tags: Annotation<string[]> }),
    }).addNode('a', (state) => state).addEdge('__start__', 'a').compile();
    interface Plain { count: number }
    export const plain = new StateGraph<Plain>({ channels: { count: null } }).addNode('a', (state) => state).addEdge('__start__', 'a').compile();
    export const notAGraph = 7;
    export default compiled;`,
  'inner.ts': `
    import { Annotation, StateGraph } from '@langchain/langgraph';
    export const inner = new StateGraph(Annotation.Root({ step: Annotation<number> }))
      .addNode('a', (state) => state).addEdge('__start__', 'a').compile();`,
});
afterAll(() => agent.remove());

const messages = { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' };
const topic = { type: 'string', description: 'What it is about.' };
const tags = { type: 'array', items: { type: 'string' } };
const object = (properties: object) => ({ type: 'object', properties });
const updates = { messages, topic, tags: { anyOf: [{ type: 'string' }, tags] } };
const whole = {
  state: object({ messages, topic, tags }),
  input: object(updates),
  output: object({ messages, topic, tags }),
};
const context = object({ model: { type: 'string', enum: ['large', 'small'] } });

test('reads the types of graphs in every form, and of graphs in nodes', () => {
  const names = ['compiled', 'builder', 'make', 'agent', 'default', 'parts', 'plain', 'notAGraph', 'absent'];
  const places = names.map((exportName) => ({
    graphId: exportName,
    file: './graphs.ts',
    exportName,
    description: undefined,
  }));
  const { graphs, nodes } = readSchemas(ts, places, agent.folder);
  const all = { ...whole, context };
  const count = object({ count: { type: 'number' } });
  expect(graphs).toEqual({
    compiled: all,
    builder: all,
    make: all,
    agent: all,
    default: all,
    parts: {
      state: whole.state,
      input: object({ topic: { type: 'string' } }),
      output: object({ tags }),
    },
    plain: { state: count, input: count, output: count },
  });
  const step = object({ step: { type: 'number' } });
  const inner = [{ state: step, input: step, output: step }];
  expect(nodes).toEqual({ inner, again: inner });
});
