import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';

const model = new FakeListChatModel({ responses: ['Good day to you'], sleep: 200 });

/** Says the same to everybody, letter by letter, in three seconds. */
export const teller = new StateGraph(MessagesAnnotation)
  .addNode('tell', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge('__start__', 'tell')
  .addEdge('tell', '__end__')
  .compile();
