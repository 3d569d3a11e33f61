import * as z from 'zod';

/**
 * Whose card is wanted: an assistant's id, or a graph's for its default assistant. A server of one graph has an agent to
 * name where the query names none.
 */
export const cardQuery = z.object({ assistant_id: z.string().min(1).optional() });
