import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';

const model = new FakeListChatModel({ responses: ['Good day to you'], sleep: 1 });

/** Says the same to everybody, letter by letter. */
export const chat = new StateGraph(MessagesAnnotation)
  .addNode('say', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge('__start__', 'say')
  .addEdge('say', '__end__')
  .compile();
