import type { Context } from 'hono';

/**
 * Sets `x-pagination-total`, and `x-pagination-next` with the offset of the next page if there is one, for the public
 * service's clients.
 *
 * @param page `total` counts all matches, `shown` those on the page.
 */
export function setPageHeaders(c: Context, page: { total: number; offset: number | undefined; shown: number }): void {
  const { total, offset = 0, shown } = page;
  c.header('x-pagination-total', String(total));
  const next = offset + shown;
  if (shown > 0 && next < total) c.header('x-pagination-next', String(next));
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
