import * as z from 'zod';

/**
 * The assistant of the card: its id, or a graph's for the graph's default assistant. Optional on a server with one graph.
 */
export const cardQuery = z.object({ assistant_id: z.string().min(1).optional() });
