import * as z from 'zod';

/** The query of a list's page: `limit` 1 to 100, 20 when absent. */
export const pageQuery = z.strictObject({
  limit: z.int().min(1).max(100).optional(),
  offset: z.int().min(0).optional(),
});

const pageSize = 100;

export type ReadPage<Entry> = (page: { limit: number; offset: number }) => Promise<{ resources: readonly Entry[] }>;

/**
 * The entries of a list, page after page, each once, at most `most`. A page without new entries ends it: a service that
 * ignores `offset` would never end.
 */
export async function* entriesOf<Entry extends { id: string }>(
  read: ReadPage<Entry>,
  most = Infinity,
): AsyncGenerator<Entry, undefined> {
  const met = new Set<string>();
  for (let offset = 0; offset < most; offset += pageSize) {
    const { resources } = await read({ limit: pageSize, offset });
    const fresh = resources.filter(({ id }) => !met.has(id));
    for (const { id } of fresh) met.add(id);
    yield* fresh;
    if (resources.length < pageSize || fresh.length === 0) return undefined;
  }
  return undefined;
}

/** All entries of a list. */
export async function allEntriesOf<Entry extends { id: string }>(read: ReadPage<Entry>): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of entriesOf(read)) entries.push(entry);
  return entries;
}
