import { END, interrupt, START, StateGraph } from '@langchain/langgraph';
import * as z from 'zod';

const State = z.object({
  name: z.string().min(2).describe('Who orders.'),
  count: z.number().int().min(1).max(9),
  size: z.enum(['small', 'large']),
  gift: z.boolean().default(false),
  tags: z.array(z.string()).optional(),
  address: z.object({ street: z.string(), floor: z.number().nullish() }).optional(),
  price: z.string().optional(),
  stock: z.string().optional(),
  summary: z.string().optional(),
});

/** Two people decide at once. */
export const graph = new StateGraph(State)
  .addNode('check_price', () => ({ price: String(interrupt({ question: 'Which price?' })) }))
  .addNode('check_stock', () => ({ stock: String(interrupt('Is it in stock?')) }))
  .addNode('sum_up', ({ name, count, size, price, stock, address, tags }) => ({
    summary: `${count} ${size} for ${name}, ${address?.street ?? 'nowhere'}, ${(tags ?? []).join('+')}: ${price}, ${stock}`,
  }))
  .addEdge(START, 'check_price')
  .addEdge(START, 'check_stock')
  .addEdge('check_price', 'sum_up')
  .addEdge('check_stock', 'sum_up')
  .addEdge('sum_up', END)
  .compile();
