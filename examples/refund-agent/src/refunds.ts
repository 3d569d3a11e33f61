import { AIMessage } from '@langchain/core/messages';
import { END, interrupt, MessagesValue, START, StateGraph, StateSchema } from '@langchain/langgraph';
import * as z from 'zod';

/** What a revision of this agent may do differently. */
interface Change {
  /** The node in which a conversation waits for a person. */
  reviewNode?: string;
  /** Whether the state keeps the policy that a refund is decided by. */
  keepsPolicy?: boolean;
  /** The type of the amount in the state. */
  amount?: z.ZodType<number | string>;
  /** What the person is shown. */
  question?: (amount: number | string) => object;
  /** A channel that former revisions did not have. */
  remembersLanguage?: boolean;
}

/** Refunds what a message names, once a person has approved it. It needs no model. */
export function refunds({
  reviewNode = 'review',
  keepsPolicy = true,
  amount = z.number(),
  question = (wanted) => ({ question: 'May I refund this?', amount: wanted }),
  remembersLanguage = false,
}: Change = {}) {
  const State = new StateSchema({
    messages: MessagesValue,
    amount: amount.optional(),
    ...(keepsPolicy ? { policy: z.string().optional() } : {}),
    ...(remembersLanguage ? { language: z.string().optional() } : {}),
  });
  const says = (text: string) => ({ messages: [new AIMessage(text)] });

  return new StateGraph(State)
    .addNode('classify', ({ messages }) => {
      const wanted = /\d+/.exec(messages.at(-1)?.text ?? '')?.[0] ?? '0';
      return {
        amount: amount.safeParse(Number(wanted)).success ? Number(wanted) : wanted,
        ...(keepsPolicy ? { policy: 'within 30 days' } : {}),
        ...(remembersLanguage ? { language: 'en' } : {}),
      };
    })
    .addNode('answer', () => says('Give me the amount that you want back.'))
    .addNode(reviewNode, ({ amount: wanted = 0 }) => {
      const isApproved: unknown = interrupt(question(wanted));
      return says(isApproved === true ? `I have sent you ${wanted}.` : 'I am sorry: this is not refunded.');
    })
    .addEdge(START, 'classify')
    .addConditionalEdges('classify', (state) => (Number(state.amount) > 0 ? reviewNode : 'answer'), [
      reviewNode,
      'answer',
    ])
    .addEdge('answer', END)
    .addEdge(reviewNode, END)
    .compile();
}
