import { withResourceDefaults, type ResourceSpec } from './resource-spec.ts';

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

/** A field of a ResourceSpec, or of something in it, that the service refuses. */
export interface ResourceProblem {
  path: readonly (string | number)[];
  /** Words that follow the field's name, without a full stop. */
  message: string;
  /** Whether it follows from what was given alone, whatever else is in a spec that it is laid over. */
  certain: boolean;
}

/**
 * Every amount of a spec that is above its own bound, which nothing could run with (our choice: control-service.md shows no
 * such rule). Defaults count as what they come to, once a field of the pair itself was given.
 *
 * @param spell how the reader writes the name of a field; as the document does when absent.
 */
function boundProblems(spec: ResourceSpec, spell = (field: string): string => field): ResourceProblem[] {
  const filled = withResourceDefaults(spec);
  return pairs.flatMap(([least, most, from]) => {
    const [low, high] = [filled[least], filled[most]];
    if (low == null || high == null || low <= high || (spec[least] == null && spec[most] == null)) return [];
    const lowSaid = spec[least] == null && from ? `${low}, the ${spell(from)},` : String(low);
    const highSaid = spec[most] == null ? `${high}, its default` : String(high);
    const certain = spec[least] != null && spec[most] != null;
    return [{ path: [least], message: `is ${lowSaid} and may not be above ${spell(most)} (${highSaid})`, certain }];
  });
}

/** Every init container that has what is a sidecar's alone (control-service.md, Container: `restartPolicy`). */
function initContainerProblems(spec: ResourceSpec): ResourceProblem[] {
  return (spec.init_containers ?? []).flatMap(({ restartPolicy }, index) =>
    restartPolicy
      ? [{ path: ['init_containers', index, 'restartPolicy'], message: 'is for sidecars alone', certain: true }]
      : [],
  );
}

/** Every rule that a spec of the right shape breaks. */
export const resourceProblems = (spec: ResourceSpec, spell?: (field: string) => string): ResourceProblem[] => [
  ...initContainerProblems(spec),
  ...boundProblems(spec, spell),
];
