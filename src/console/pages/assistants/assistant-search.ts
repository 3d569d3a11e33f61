import type { AssistantSearch } from '../../../contract/agent/assistant.ts';
import { readPair } from '../../parts/json-text.ts';

/** The query for a search text: `key=value` of the metadata, else a part of the name. */
export function toAssistantSearch(text: string): Pick<AssistantSearch, 'name' | 'metadata'> {
  const metadata = readPair(text);
  if (metadata) return { metadata };
  return text.trim() === '' ? {} : { name: text.trim() };
}
