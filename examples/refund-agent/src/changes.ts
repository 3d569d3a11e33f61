import * as z from 'zod';
import { refunds } from './refunds.ts';

// Name one of these in langgraph.json in the place of `./src/graph.ts:graph`, and deploy it with `conversations`.

/** Conversations that wait in `review` could never go on. */
export const renamedNode = refunds({ reviewNode: 'approve' });

/** Conversations would lose their `policy`. */
export const removedChannel = refunds({ keepsPolicy: false });

/** The amounts of conversations are numbers. */
export const changedType = refunds({ amount: z.string() });

/** Pages that show `amount` to a person would show nothing. */
export const changedInterrupt = refunds({ question: (wanted) => ({ title: 'Refund', details: [wanted] }) });

/** Breaks no conversation. */
export const addition = refunds({ remembersLanguage: true });
