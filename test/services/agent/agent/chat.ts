import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { TellerModel } from '../../../partners/agent-clients/agent/teller-model.ts';

const model = new TellerModel({ responses: ['Good day to you'], sleep: 20 });

/** Not compiled: the server compiles it. */
export const chat = new StateGraph(MessagesAnnotation)
  .addNode('say', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge('__start__', 'say')
  .addEdge('say', '__end__');
