import { createHash } from 'node:crypto';
import { defaultAssistantNamespace } from '../../contract/agent/assistant.ts';
import { isObject } from '../../contract/json-object.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';

/** A stored assistant with the values of its active version. */
export interface StoredAssistant {
  assistant_id: string;
  graph_id: string;
  version: number;
  name: string;
  description: string | null;
  context: FreeObject;
  config: FreeObject;
  metadata: FreeObject;
  created_at: Date;
  updated_at: Date;
}

/** One of an assistant's versions. It never changes. */
export type StoredVersion = Omit<StoredAssistant, 'updated_at'>;

/** The id of a graph's default assistant: a uuid (version 5) of the graph's id. */
export function defaultAssistantId(graphId: string): string {
  const namespace = Buffer.from(defaultAssistantNamespace.replaceAll('-', ''), 'hex');
  const hash = createHash('sha1').update(namespace).update(graphId).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Whether an assistant is the default assistant of its graph. */
export const isDefault = ({ assistant_id, graph_id }: Pick<StoredAssistant, 'assistant_id' | 'graph_id'>): boolean =>
  assistant_id === defaultAssistantId(graph_id);

/** The `configurable` of a config: the input of a graph factory. */
export function configurableIn({ configurable }: FreeObject): FreeObject {
  return isObject(configurable) ? configurable : {};
}
