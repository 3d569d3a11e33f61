import type { SourceConfigRequest } from '../../contract/control/source.ts';
import type { ListenerRecord } from '../store/tables.ts';

/** The message for a `listener_id` that does not exist or belongs to another tenant. */
export const unknownListener = 'source_config.listener_id is none of those that GET /v2/listeners lists.';

/**
 * The problems with the requested listener and its settings (control-service.md, source_config: `listener_id`,
 * `listener_config`).
 *
 * @param listener the tenant's listener of this id.
 */
export function listenerProblems(
  { listener_id, listener_config }: SourceConfigRequest,
  listener: Pick<ListenerRecord, 'compute_type' | 'compute_config'> | undefined,
): string[] {
  if (listener_id && !listener) return [unknownListener];
  const namespace = listener_config?.k8s_namespace;
  if (!namespace) return [];
  const field = 'source_config.listener_config.k8s_namespace';
  if (!listener) return [`${field} needs a source_config.listener_id.`];
  if (listener.compute_type !== 'k8s') {
    return [`${field} is for listeners of the compute type k8s; this one's is ${listener.compute_type}.`];
  }
  const known = listener.compute_config.k8s_namespaces ?? [];
  if (known.length === 0 || known.includes(namespace)) return [];
  return [`${field} must be one of the listener's namespaces: ${known.join(', ')}.`];
}
