import * as z from 'zod';

/** The query of a list's page: `limit` is 1 to 100, by default 20. */
export const pageQuery = z.strictObject({
  limit: z.int().min(1).max(100).optional(),
  offset: z.int().min(0).optional(),
});

const pageSize = 100;

export type ReadPage<Entry> = (page: { limit: number; offset: number }) => Promise<{ resources: readonly Entry[] }>;

/**
 * Yields the entries of a list page by page, without duplicates. Stops after `maxEntries` offsets, and at a page
 * without new entries, because a service that ignores `offset` would never end.
 */
export async function* entriesOf<Entry extends { id: string }>(
  read: ReadPage<Entry>,
  maxEntries = Infinity,
): AsyncGenerator<Entry, undefined> {
  const seenIds = new Set<string>();
  for (let offset = 0; offset < maxEntries; offset += pageSize) {
    const { resources } = await read({ limit: pageSize, offset });
    const newEntries = resources.filter(({ id }) => !seenIds.has(id));
    for (const { id } of newEntries) seenIds.add(id);
    yield* newEntries;
    if (resources.length < pageSize || newEntries.length === 0) return undefined;
  }
  return undefined;
}

/** All entries of a list. */
export async function allEntriesOf<Entry extends { id: string }>(read: ReadPage<Entry>): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of entriesOf(read)) entries.push(entry);
  return entries;
}
