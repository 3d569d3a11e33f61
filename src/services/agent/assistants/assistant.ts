import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import {
  assistantFields,
  defaultAssistantNamespace,
  type Assistant,
  type AssistantVersion,
} from '../../../contract/agent/assistant.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { isObject } from '../../../kit/json-object.ts';
import type { AssistantsTable, AssistantVersionsTable } from '../storage/tables.ts';

/** The columns of an assistant for a prepared statement, as in `runs/run-row.ts`. */
export const storedAssistant = assistantFields.join(', ');

/** A stored assistant with the values of its active version. */
export type StoredAssistant = Pick<Selectable<AssistantsTable>, (typeof assistantFields)[number]>;

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

/** Serializes an assistant for the API (section "Assistant"). */
export function showAssistant(assistant: StoredAssistant): Assistant {
  return {
    assistant_id: assistant.assistant_id,
    graph_id: assistant.graph_id,
    name: assistant.name,
    description: assistant.description,
    version: assistant.version,
    context: assistant.context,
    config: shownConfig(assistant),
    metadata: assistant.metadata,
    created_at: assistant.created_at.toISOString(),
    updated_at: assistant.updated_at.toISOString(),
  };
}

/** Serializes a version: the assistant as it was when the version was created. */
export function showVersion(version: Selectable<AssistantVersionsTable>): AssistantVersion {
  return { ...showAssistant({ ...version, updated_at: version.created_at }), version: version.version };
}

/**
 * An empty `config` marks an unconfigured assistant (section "Assistant", rule 4). An assistant that has only a context
 * shows it as its `configurable`: the engine has one schema for both.
 */
function shownConfig({ config, context }: Pick<StoredAssistant, 'config' | 'context'>): FreeObject {
  const isEmpty = (values: FreeObject) => Object.keys(values).length === 0;
  return isEmpty(config) && !isEmpty(context) ? { configurable: context } : config;
}
