import { isUuid } from '../../../kit/uuid.ts';
import { readAnswer } from './interrupts.ts';
import type { ListedThread, ThreadQuery } from './agent-api.ts';
import { toForm } from './schema-form.ts';

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
