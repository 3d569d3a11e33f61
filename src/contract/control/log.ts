import * as z from 'zod';

/** The query of a revision's build or deploy log. Times are ISO 8601, `offset` is the cursor of the page before. */
export const logQuery = z.strictObject({
  order: z.enum(['asc', 'desc']).optional(),
  limit: z.int().min(1).max(1000).optional(),
  offset: z.string().optional(),
  level: z.string().optional(),
  query: z.string().optional(),
  start_time: z.string().optional(),
  end_time: z.string().optional(),
});
export type LogQuery = z.infer<typeof logQuery>;

/** One line of a log: untrusted text. */
export const logEntry = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  /** Milliseconds since the epoch, or text. */
  timestamp: z.union([z.string(), z.number()]).nullish(),
  level: z.string().nullish(),
  message: z.string(),
});
export type LogEntry = z.infer<typeof logEntry>;

/** A page of a log; `next_offset` is the cursor of the next one. */
export const logPage = z.looseObject({ logs: z.array(logEntry), next_offset: z.string().nullish() });
export type LogPage = z.infer<typeof logPage>;
