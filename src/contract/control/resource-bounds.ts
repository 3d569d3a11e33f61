import { withResourceDefaults, type ResourceSpec } from './resource-spec.ts';

/** Pairs of request and limit, each with the field of the first one's default. */
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

/** An invalid field of a ResourceSpec, or of a part of it. */
export interface ResourceProblem {
  path: readonly (string | number)[];
  /** Phrased to follow the field's name, without a full stop. */
  message: string;
  /** Whether the given fields alone cause it, whatever spec they are merged into. */
  certain: boolean;
}

/**
 * Finds requests above their limits, which a cluster could not schedule (our choice: docs/design/contract.md#resources
 * has no such rule). Applies defaults if a field of the pair was given.
 *
 * @param spell how to write the name of a field; as in the specification by default.
 */
function boundProblems(spec: ResourceSpec, spell = (field: string): string => field): ResourceProblem[] {
  const withDefaults = withResourceDefaults(spec);
  return pairs.flatMap(([least, most, from]) => {
    const [low, high] = [withDefaults[least], withDefaults[most]];
    if (low == null || high == null || low <= high || (spec[least] == null && spec[most] == null)) return [];
    const lowText = spec[least] == null && from ? `${low}, the ${spell(from)},` : String(low);
    const highText = spec[most] == null ? `${high}, its default` : String(high);
    const certain = spec[least] != null && spec[most] != null;
    return [{ path: [least], message: `is ${lowText} and may not be above ${spell(most)} (${highText})`, certain }];
  });
}

/** Finds init containers with a field for sidecars only (docs/design/contract.md#containers). */
function initContainerProblems(spec: ResourceSpec): ResourceProblem[] {
  return (spec.init_containers ?? []).flatMap(({ restartPolicy }, index) =>
    restartPolicy
      ? [{ path: ['init_containers', index, 'restartPolicy'], message: 'is for sidecars alone', certain: true }]
      : [],
  );
}

/** Every rule that a well-formed spec violates. */
export const resourceProblems = (spec: ResourceSpec, spell?: (field: string) => string): ResourceProblem[] => [
  ...initContainerProblems(spec),
  ...boundProblems(spec, spell),
];
