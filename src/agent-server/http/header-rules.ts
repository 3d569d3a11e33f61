import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { HeaderRules } from '../../graph-config/http-config.ts';
import { TOKEN_HEADER } from '../routes/guard.ts';

/** What lets its sender in somewhere: it is taken up only where a pattern spells it out. */
const CREDENTIALS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'x-tenant-id',
  'x-service-key',
]);

/** Which headers of a request become keys of a run's `configurable` where the configuration says nothing. */
const USUAL = ['x-*', 'user-agent'];

/** The headers that are of one pattern of `taken`, and of none of `excludes`. */
function chosen(headers: Headers, taken: readonly string[], excludes: readonly string[]): Record<string, string> {
  const isTaken = matcher(taken);
  const isExcluded = matcher(excludes);
  const spelledOut = new Set(taken.map((pattern) => pattern.toLowerCase()));
  return Object.fromEntries(
    [...headers].filter(([name]) => {
      if (name === TOKEN_HEADER || isExcluded(name) || !isTaken(name)) return false;
      return !CREDENTIALS.has(name) || spelledOut.has(name);
    }),
  );
}

/**
 * What a request's headers add to the `configurable` of its runs: `x-*` and `user-agent`, as the public service does,
 * and what `includes` names besides; nothing that `excludes` names.
 */
export function configurableHeaders(rules: HeaderRules | null | undefined): (headers: Headers) => FreeObject {
  const taken = [...USUAL, ...(rules?.includes ?? [])];
  const excludes = rules?.excludes ?? [];
  return (headers) => chosen(headers, taken, excludes);
}

/** The headers of a request that its line of the log shows. */
export function loggedHeaders(rules: HeaderRules): (headers: Headers) => Record<string, string> {
  return (headers) => chosen(headers, rules.includes ?? ['*'], rules.excludes ?? []);
}

/** Whether a name is of one of the patterns, in which `*` stands for any text. Names of headers have no case. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const parts = patterns.map((pattern) =>
    pattern
      .split('*')
      .map((text) => text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  );
  const expression = new RegExp(`^(?:${parts.join('|')})$`, 'i');
  return (name) => expression.test(name);
}
