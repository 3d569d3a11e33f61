import { SystemMessage } from '@langchain/core/messages';
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import * as z from 'zod';
import { ScriptedModel } from './scripted-model.ts';

const Context = z.object({ company: z.string().default('Acme') });

const State = Annotation.Root({ ...MessagesAnnotation.spec, topic: Annotation<string> });

const answers: Record<string, string> = {
  refund: 'You can return anything within 30 days. I have sent you a label.',
  delivery: 'Parcels leave the same day and arrive within two days.',
  other: 'Give me a few details, and I will find out.',
};

const topicOf = (question: string): string =>
  /refund|return|money back/i.test(question) ? 'refund' : /deliver|parcel|ship/i.test(question) ? 'delivery' : 'other';

const model = new ScriptedModel((question) => answers[topicOf(question)] ?? '');

export const graph = new StateGraph(State, Context)
  .addNode('classify', ({ messages }) => ({ topic: topicOf(messages.at(-1)?.text ?? '') }))
  .addNode('answer', async ({ messages }, { context }) => {
    const instructions = new SystemMessage(`You answer for ${context?.company ?? 'Acme'}.`);
    return { messages: [await model.invoke([instructions, ...messages])] };
  })
  .addEdge(START, 'classify')
  .addEdge('classify', 'answer')
  .addEdge('answer', END)
  .compile();
