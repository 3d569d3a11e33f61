import { withResourceDefaults } from '../../contract/control/resource-spec.ts';
import type { ResourceSpec } from '../../contract/control/resource-spec.ts';

/** What may not be above what, each with the field that the first one's default comes from. */
const pairs = [
  ['min_scale', 'max_scale', undefined],
  ['cpu', 'cpu_limit', undefined],
  ['memory_mb', 'memory_limit_mb', undefined],
  ['queue_min_scale', 'queue_max_scale', 'min_scale'],
  ['queue_cpu', 'queue_cpu_limit', 'cpu'],
  ['queue_memory_mb', 'queue_memory_limit_mb', 'memory_mb'],
  ['cache_cpu', 'cache_cpu_limit', undefined],
  ['cache_memory_mb', 'cache_memory_limit_mb', undefined],
  ['db_cpu', 'db_cpu_limit', undefined],
  ['db_memory_mb', 'db_memory_limit_mb', undefined],
] as const;

/**
 * A sentence for every amount that is above its own bound, which nothing could run with (our choice: the document shows no
 * such rule). Defaults count as what they come to, once a field of the pair itself was given.
 */
export function resourceProblems(spec: ResourceSpec): string[] {
  const filled = withResourceDefaults(spec);
  return pairs.flatMap(([least, most, from]) => {
    const [low, high] = [filled[least], filled[most]];
    if (low == null || high == null || low <= high || (spec[least] == null && spec[most] == null)) return [];
    const lowSaid = spec[least] == null && from ? `${low}, the ${from}` : String(low);
    const highSaid = spec[most] == null ? `${high}, its default` : String(high);
    return [`source_config.resource_spec.${least} (${lowSaid}) may not be above ${most} (${highSaid}).`];
  });
}
