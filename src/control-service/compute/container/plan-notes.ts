import { resolvedResources } from '../../deployments/validation/resolved-resources.ts';
import type { AgentSpec } from '../compute.ts';

/** The requested settings that have no effect on this machine, for the deploy log. */
export function notesOn(spec: NonNullable<AgentSpec['resourceSpec']>): string[] {
  const { queue, cache, ignored } = notable(spec);
  const only = (fields: readonly string[], why: string): string[] =>
    fields.length === 0 ? [] : [`${fields.join(', ')}: ${why}`];
  const scale = (['min_scale', 'max_scale'] as const).filter((field) => (spec[field] ?? 1) !== 1);
  return [
    ...only(scale, 'this machine runs one replica.'),
    ...only(queue, "the queue's work is done by the agent itself on this machine."),
    ...only(cache, 'there is no cache on this machine.'),
    ...only(
      notableOf(spec, ['db_cpu', 'db_cpu_limit', 'db_memory_mb', 'db_memory_limit_mb', 'db_storage_gi']),
      'all deployments share the one Postgres of this machine.',
    ),
    ...only(
      notableOf(spec, ['service_account_name', 'image_pull_secrets', 'annotations']),
      'they are of a cluster. Log the engine in where images are private.',
    ),
    ...only(ignored, 'the document marks these as not to be used.'),
  ];
}

const notableOf = (spec: object, fields: readonly string[]): string[] =>
  Object.entries(spec).flatMap(([field, value]) => (fields.includes(field) && value != null ? [field] : []));

function notable(spec: NonNullable<AgentSpec['resourceSpec']>): {
  queue: string[];
  cache: string[];
  ignored: readonly string[];
} {
  const of = (prefix: string): string[] =>
    Object.entries(spec).flatMap(([field, value]) => (field.startsWith(prefix) && value != null ? [field] : []));
  return { queue: of('queue_'), cache: of('cache_'), ignored: resolvedResources(spec).ignored };
}
