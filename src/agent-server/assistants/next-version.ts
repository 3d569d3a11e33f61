import type { AssistantPatch } from '../../contract/agent/assistant.ts';
import { storableText } from '../storage/storable.ts';
import type { StoredAssistant } from './assistant.ts';

/** What a version of an assistant holds, besides its number and its time. */
export type VersionValues = Pick<
  StoredAssistant,
  'graph_id' | 'name' | 'description' | 'context' | 'config' | 'metadata'
>;

/**
 * What the next version of an assistant holds (section "States and transitions"): a context that is sent is all there
 * is of it, nothing of the former one stays. So with the config; metadata is added to, key by key. What is not sent
 * stays as it is in the active version.
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
