import type { SourceConfigRequest } from '../../contract/control/source.ts';

/** What the rules look at of a listener. */
export interface KnownListener {
  compute_type: string;
  compute_config: { k8s_namespaces?: string[] | null | undefined };
}

/** The sentence against a `listener_id` of nobody's, or of somebody else's. */
export const unknownListener = 'source_config.listener_id is none of those that GET /v2/listeners lists.';

/**
 * A sentence for everything that is wrong with the listener that is asked for and what it is asked
 * (control-service.md, source_config: `listener_id`, `listener_config`).
 *
 * @param listener the tenant's listener of this id.
 */
export function listenerProblems(
  { listener_id, listener_config }: SourceConfigRequest,
  listener: KnownListener | undefined,
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
