import { isObject } from '../json-object.ts';

/** Which spelling a service wants to be sent: the documents', or the public service's. Both are read. */
export const fieldSpellings = ['contract', 'public'] as const;
export type FieldSpelling = (typeof fieldSpellings)[number];

/** Every name that differs, and the object it stands in. */
export const fieldAliases: readonly { within: string; contract: string; public: string }[] = [
  { within: 'source_revision_config', contract: 'graph_config_path', public: 'langgraph_config_path' },
  { within: 'resource_spec', contract: 'cache_cpu', public: 'redis_cpu' },
  { within: 'resource_spec', contract: 'cache_cpu_limit', public: 'redis_cpu_limit' },
  { within: 'resource_spec', contract: 'cache_memory_mb', public: 'redis_memory_mb' },
  { within: 'resource_spec', contract: 'cache_memory_limit_mb', public: 'redis_memory_limit_mb' },
];

/** Rewrites every aliased field of a JSON body into one spelling. Where both stand, the contract's value wins. */
export function spellFields(body: unknown, spelling: FieldSpelling): unknown {
  if (Array.isArray(body)) return body.map((item) => spellFields(item, spelling));
  if (!isObject(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, spellFields(renamed(key, value, spelling), spelling)]),
  );
}

function renamed(within: string, value: unknown, spelling: FieldSpelling): unknown {
  if (!isObject(value)) return value;
  const result = { ...value };
  for (const alias of fieldAliases) {
    if (alias.within !== within) continue;
    const isThere = alias.contract in result || alias.public in result;
    const meant = result[alias.contract] ?? result[alias.public] ?? null;
    delete result[alias.contract];
    delete result[alias.public];
    if (isThere) result[alias[spelling]] = meant;
  }
  return result;
}
