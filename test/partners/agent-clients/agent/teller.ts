import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';

const modelWith = (sleep: number) => new FakeListChatModel({ responses: ['Good day to you'], sleep });
const model = modelWith(200);
const slowModel = modelWith(600);

/** Says the same to everybody, letter by letter, in three seconds; in nine to whoever says "slowly". */
export const teller = new StateGraph(MessagesAnnotation)
  .addNode('tell', async ({ messages }) => ({
    messages: [await (messages.at(-1)?.content === 'slowly' ? slowModel : model).invoke(messages)],
  }))
  .addEdge('__start__', 'tell')
  .addEdge('tell', '__end__')
  .compile();
