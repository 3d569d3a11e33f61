import type { Assistant, AssistantVersion } from '../../contract/agent/assistant.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { StoredAssistant, StoredVersion } from './assistant.ts';

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
export function showVersion(version: StoredVersion): AssistantVersion {
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
