import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { TellerModel } from './teller-model.ts';

const model = new TellerModel({ responses: ['Good day to you'], sleep: 20 });

/** Says the same to everybody, letter by letter. */
export const teller = new StateGraph(MessagesAnnotation)
  .addNode('tell', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge('__start__', 'tell')
  .addEdge('tell', '__end__')
  .compile();
