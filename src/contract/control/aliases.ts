import { isObject } from '../../kit/json-object.ts';

/** The field names of requests: the specification's, or the public service's. Responses may have either. */
export const fieldSpellings = ['contract', 'public'] as const;
export type FieldSpelling = (typeof fieldSpellings)[number];

/** The spelling that a client is set to: `auto` learns it from the service. */
export const fieldNameSettings = ['auto', ...fieldSpellings] as const;
export type FieldNameSetting = (typeof fieldNameSettings)[number];

/** Every differing name, and the object that contains it. */
export const fieldAliases: readonly { within: string; contract: string; public: string }[] = [
  { within: 'source_revision_config', contract: 'graph_config_path', public: 'langgraph_config_path' },
  { within: 'resource_spec', contract: 'cache_cpu', public: 'redis_cpu' },
  { within: 'resource_spec', contract: 'cache_cpu_limit', public: 'redis_cpu_limit' },
  { within: 'resource_spec', contract: 'cache_memory_mb', public: 'redis_memory_mb' },
  { within: 'resource_spec', contract: 'cache_memory_limit_mb', public: 'redis_memory_limit_mb' },
];

/** The fields that lead to an aliased object. Others may hold free-form objects, whose keys mean something else. */
const containers = new Set(['resources', 'revision', 'source_config']);

/** Renames every aliased field of a JSON body. If both names are present, the contract's value wins. */
export function spellFields(body: unknown, spelling: FieldSpelling): unknown {
  if (Array.isArray(body)) return body.map((item) => spellFields(item, spelling));
  if (!isObject(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key,
      containers.has(key) ? spellFields(value, spelling) : renameFields(key, value, spelling),
    ]),
  );
}

function renameFields(within: string, value: unknown, spelling: FieldSpelling): unknown {
  if (!isObject(value)) return value;
  const result = { ...value };
  for (const alias of fieldAliases) {
    if (alias.within !== within) continue;
    const isThere = alias.contract in result || alias.public in result;
    const value = result[alias.contract] ?? result[alias.public] ?? null;
    delete result[alias.contract];
    delete result[alias.public];
    if (isThere) result[alias[spelling]] = value;
  }
  return result;
}

/** The spelling to which names belong; undefined if to none or to both. */
export function spellingOfNames(isNamed: (name: string) => boolean): FieldSpelling | undefined {
  const used = fieldSpellings.filter((spelling) => fieldAliases.some((alias) => isNamed(alias[spelling])));
  return used.length === 1 ? used[0] : undefined;
}
