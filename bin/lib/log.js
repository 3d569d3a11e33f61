import * as z from "zod";
// src/contract/control/log.ts
/** What is asked of a revision's build or deploy log. Times are ISO 8601, `offset` is the cursor of the page before. */
const logQuery = z.strictObject({
	order: z.enum(["asc", "desc"]).optional(),
	limit: z.int().min(1).max(1e3).optional(),
	offset: z.string().optional(),
	level: z.string().optional(),
	query: z.string().optional(),
	start_time: z.string().optional(),
	end_time: z.string().optional()
});
const logEntry = z.looseObject({
	id: z.union([z.string(), z.number()]).nullish(),
	/** Milliseconds since the epoch, or text. */
	timestamp: z.union([z.string(), z.number()]).nullish(),
	level: z.string().nullish(),
	message: z.string()
});
const logPage = z.looseObject({
	logs: z.array(logEntry),
	next_offset: z.string().nullish()
});
export { logQuery as n, logPage as t };
