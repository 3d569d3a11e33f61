import { AIMessage } from '@langchain/core/messages';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';

/** Repeats the message. */
export const talk = new StateGraph(MessagesAnnotation)
  .addNode('say', async ({ messages }) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { messages: [new AIMessage(`heard ${messages.at(-1)?.text}`)] };
  })
  .addEdge('__start__', 'say')
  .addEdge('say', '__end__')
  .compile();
