import type { AssistantPatch } from '../../contract/agent/assistant.ts';
import { storableText } from '../storage/storable.ts';
import type { StoredAssistant } from './assistant.ts';

/** The values of a version of an assistant, without its number and time. */
export type VersionValues = Pick<
  StoredAssistant,
  'graph_id' | 'name' | 'description' | 'context' | 'config' | 'metadata'
>;

/**
 * Computes the next version of an assistant (section "States and transitions"). `context` and `config` replace the
 * former value, `metadata` is merged key by key, and absent fields keep the value of the active version.
 */
export function nextVersion(active: VersionValues, patch: AssistantPatch): VersionValues {
  return {
    graph_id: patch.graph_id ?? active.graph_id,
    name: patch.name === undefined ? active.name : storableText(patch.name),
    description: patch.description === undefined ? active.description : storableText(patch.description),
    context: patch.context ?? active.context,
    config: patch.config ?? active.config,
    metadata: { ...active.metadata, ...patch.metadata },
  };
}
