import type { Context } from 'hono';

/** Some of all matches. */
export interface Page {
  total: number;
  /** The number of matches before these; absent where the next page is not announced. */
  offset?: number;
  items: readonly object[];
}

/** Sets `x-pagination-total`, and `x-pagination-next` with the offset of the next page if there is one. */
export function setPageHeaders(c: Context, { total, offset, items }: Page): void {
  c.header('x-pagination-total', String(total));
  if (offset === undefined || items.length === 0) return;
  const next = offset + items.length;
  if (next < total) c.header('x-pagination-next', String(next));
}

/** Keeps the selected fields of an item; all by default. */
export function selected(item: object, fields: readonly string[] | undefined): object {
  if (fields === undefined || fields.length === 0) return item;
  return Object.fromEntries(Object.entries(item).filter(([field]) => fields.includes(field)));
}

/** The header `Warning` (RFC 7234, 5.5): what of a request is ignored. A header has ASCII only. */
export const warningHeader = (text: string): Record<string, string> => ({
  warning: `299 landfall "${text.replaceAll('"', "'").replaceAll(/[^ -~]|\\/g, '?')}"`,
});
