import type * as z from 'zod';
import { threadSchema, type ThreadSearch } from '../../../contract/agent/thread.ts';
import { isUuid } from '../../../kit/uuid.ts';
import { readAnswer } from './interrupts.ts';
import { textOf } from './messages.ts';
import { toForm } from './schema-form.ts';

/** A query for the threads to list. */
export interface ThreadQuery extends Pick<ThreadSearch, 'status' | 'ids' | 'metadata' | 'values' | 'limit' | 'offset'> {
  /** The fields of the state that can be the title of a thread without messages. */
  titleFields?: readonly string[];
}

export const listedThread = threadSchema
  .pick({ thread_id: true, status: true, updated_at: true, metadata: true, extracted: true })
  .transform(({ thread_id, status, updated_at, metadata, extracted }) => ({
    threadId: thread_id,
    status,
    updatedAt: updated_at,
    metadata: metadata ?? {},
    title: titleOf(extracted ?? {}),
  }));

/** A thread in a list; its title is the text of its first message or of the first field with one, if any. */
export type ListedThread = z.infer<typeof listedThread>;

/** The first extracted text, of a message or of a field. */
const titleOf = (extracted: Record<string, unknown>): string | undefined =>
  Object.values(extracted)
    .map((value) => textOf(value).trim())
    .find((text) => text !== '');

const pair = /^(values\.)?([^=\s]+)=(.*)$/s;

/**
 * The query for a search text: an id, `key=value` for metadata or `values.key=value` for values of the state. Any
 * other text is looked for in what is listed.
 */
export function toThreadQuery(search: string): { query: ThreadQuery; text: string } {
  const trimmed = search.trim();
  if (isUuid(trimmed)) return { query: { ids: [trimmed] }, text: '' };
  const [, prefix, key, value] = pair.exec(trimmed) ?? [];
  if (key === undefined || value === undefined) return { query: {}, text: trimmed.toLowerCase() };
  const wanted = { [key]: readAnswer(value) };
  return { query: prefix === undefined ? { metadata: wanted } : { values: wanted }, text: '' };
}

/** The text fields of a graph's input, which can name a thread: as many as a search extracts, besides a message. */
export const titleFieldsOf = (inputSchema: unknown): string[] =>
  (toForm(inputSchema)?.fields ?? [])
    .filter(({ kind, name }) => kind === 'text' && /^[^.[\]]+$/.test(name))
    .map(({ name }) => name)
    .slice(0, 9);

/** Whether a listed thread has a text in its title, id or metadata. */
export const hasText = ({ threadId, title = '', metadata }: ListedThread, text: string): boolean =>
  text === '' || `${threadId} ${title} ${JSON.stringify(metadata)}`.toLowerCase().includes(text);
