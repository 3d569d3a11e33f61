import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

/** An agent with graphs of every form of export, state and nesting. */
export const manyGraphs = (): TemporaryAgent =>
  temporaryAgent({
    'langgraph.json': {
      graphs: {
        compiled: './forms.ts:compiled',
        builder: './forms.ts:builder',
        sync: './forms.ts:sync',
        async: './forms.ts:async',
        promised: './forms.ts:promised',
        held: './forms.ts:held',
        script: './script.mjs:default',
        common: './common.cjs:graph',
        typed: './states.ts:typed',
        stated: './states.ts:stated',
        noted: './states.ts:noted',
        dated: './states.ts:dated',
        whole: './states.ts:whole',
        functional: './states.ts:functional',
        nested: './nested.ts:nested',
        chosen: './states.ts:chosen',
      },
    },
    'forms.ts': `
      import { Annotation, StateGraph } from '@langchain/langgraph';
      const State = Annotation.Root({ said: Annotation<string> });
      const saying = (word: string) =>
        new StateGraph(State).addNode('say', async () => ({ said: word })).addEdge('__start__', 'say').addEdge('say', '__end__');
      export const compiled = saying('compiled').compile();
      export const builder = saying('builder');
      type Config = { configurable: { word?: string } };
      export function sync({ configurable: { word = 'sync' } }: Config) {
        if (word === 'unspeakable') throw new TypeError('there is no such word');
        return saying(word).compile();
      }
      export const async = async ({ configurable: { word = 'async' } }: Config) => saying(word);
      export const promised = Promise.resolve(saying('promised').compile());
      // The form that the engine's agent library produces.
      export const held = { graph: saying('held').compile(), invoke() {}, stream() {}, streamEvents() {} };`,
    'script.mjs': `
      import { Annotation, StateGraph } from '@langchain/langgraph';
      const State = Annotation.Root({ said: Annotation });
      export default new StateGraph(State).addNode('say', () => ({ said: 'script' })).addEdge('__start__', 'say').compile();`,
    'common.cjs': `
      const { Annotation, StateGraph } = require('@langchain/langgraph');
      const State = Annotation.Root({ said: Annotation });
      exports.graph = new StateGraph(State).addNode('say', () => ({ said: 'common' })).addEdge('__start__', 'say').compile();`,
    'states.ts': `
      import { Annotation, entrypoint, MessageGraph, MessagesAnnotation, MessagesValue, ReducedValue, StateGraph, StateSchema } from '@langchain/langgraph';
      import { MessagesZodMeta } from '@langchain/langgraph';
      import { registry } from '@langchain/langgraph/zod';
      import * as z from 'zod';
      const one = (graph: any) => graph.addNode('do', async () => ({})).addEdge('__start__', 'do').addEdge('do', '__end__').compile();
      const Context = z.object({ tone: z.enum(['warm', 'cold']), volume: z.number().default(5), name: z.string().optional() });
      const messages = z.array(z.any()).register(registry, MessagesZodMeta as any);
      const Typed = z.object({ messages, count: z.number(), note: z.string().optional() });
      export const typed = one(
        new StateGraph(Typed, { input: z.object({ messages }), output: Typed.pick({ count: true }), context: Context }),
      );
      export const stated = one(new StateGraph(new StateSchema({
        messages: MessagesValue,
        step: z.string(),
        history: new ReducedValue(z.array(z.string()).default(() => []), {
          inputSchema: z.string(),
          reducer: (all: string[], next: string) => [...all, next],
        }),
      })));
      const Input = Annotation.Root({ question: Annotation<string> });
      const Output = Annotation.Root({ answer: Annotation<string> });
      const State = Annotation.Root({ ...MessagesAnnotation.spec, ...Input.spec, ...Output.spec });
      export const noted = one(new StateGraph({ stateSchema: State, input: Input, output: Output }, Annotation.Root({ tone: Annotation<string> })));
      const Strict = z.object({ tone: z.literal('exact') });
      export const chosen = ({ configurable }: { configurable: { strict?: boolean } }) =>
        one(new StateGraph(z.object({ title: z.string().optional() }), { context: configurable.strict ? Strict : Context }));
      export const dated = one(new StateGraph(z.object({ at: z.date(), title: z.string() })));
      export const whole = one(new MessageGraph());
      export const functional = entrypoint('functional', async (word: string) => word.toUpperCase());`,
    'nested.ts': `
      import { StateGraph } from '@langchain/langgraph';
      import * as z from 'zod';
      const State = z.object({ word: z.string(), depth: z.number().optional() });
      const inside = (name: string, graph: any) =>
        new StateGraph(State).addNode('before', async () => ({})).addNode(name, graph).addEdge('__start__', 'before').addEdge('before', name).addEdge(name, '__end__').compile();
      const core = new StateGraph(State).addNode('act', async () => ({})).addNode('rest', async () => ({})).addEdge('__start__', 'act').addEdge('act', 'rest').addEdge('rest', '__end__').compile();
      export const nested = inside('middle', inside('core', core));`,
  });
