import type { Context } from 'hono';

/** A page of a search, among all that match. */
export interface Page {
  /** How many match in all. */
  total: number;
  offset: number | undefined;
  /** How many the page holds. */
  shown: number;
}

/**
 * Tells how many match in all, and at which offset the next page begins where there is one: `x-pagination-total` and
 * `x-pagination-next`, which the public service's clients read.
 */
export function setPageHeaders(c: Context, { total, offset = 0, shown }: Page): void {
  c.header('x-pagination-total', String(total));
  const next = offset + shown;
  if (shown > 0 && next < total) c.header('x-pagination-next', String(next));
}
