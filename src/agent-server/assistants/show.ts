import type { Assistant, AssistantVersion } from '../../contract/agent/assistant.ts';
import type { StoredAssistant, StoredVersion } from './assistant.ts';

/** An assistant as the API shows it (section "Assistant"); an empty `config` marks one that nobody configured. */
export function showAssistant(assistant: StoredAssistant): Assistant {
  return {
    assistant_id: assistant.assistant_id,
    graph_id: assistant.graph_id,
    name: assistant.name,
    description: assistant.description,
    version: assistant.version,
    context: assistant.context,
    config: assistant.config,
    metadata: assistant.metadata,
    created_at: assistant.created_at.toISOString(),
    updated_at: assistant.updated_at.toISOString(),
  };
}

/** A version as the API lists it: an assistant as it was when the version was made. */
export function showVersion(version: StoredVersion): AssistantVersion {
  return { ...showAssistant({ ...version, updated_at: version.created_at }), version: version.version };
}
