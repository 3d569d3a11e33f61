import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { HeaderRules } from '../../graph-config/http-config.ts';
import { isClaim } from '../auth/caller.ts';
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

/**
 * Which headers of a request become keys of a run's `configurable` where the configuration says nothing. Those in which
 * proxies speak of the way are no word of the caller's.
 */
const isUsual = (name: string): boolean =>
  name === 'user-agent' || (name.startsWith('x-') && !name.startsWith('x-forwarded-'));

/**
 * What a request's headers add to the `configurable` of its runs: `x-*` and `user-agent`, as the public service does,
 * and what `includes` names besides; nothing that `excludes` names, and nothing by the names of what rules of access tell.
 */
export function configurableHeaders(rules: HeaderRules | null | undefined): (headers: Headers) => FreeObject {
  const includes = rules?.includes ?? [];
  const isIncluded = matcher(includes);
  const mayPass = passing(includes, rules?.excludes ?? []);
  return (headers) =>
    Object.fromEntries(
      [...headers].filter(([name]) => (isUsual(name) || isIncluded(name)) && mayPass(name) && !isClaim(name)),
    );
}

/** The headers of a request that its line of the log shows. */
export function loggedHeaders(rules: HeaderRules): (headers: Headers) => Record<string, string> {
  const includes = rules.includes ?? ['*'];
  const isIncluded = matcher(includes);
  const mayPass = passing(includes, rules.excludes ?? []);
  return (headers) => Object.fromEntries([...headers].filter(([name]) => isIncluded(name) && mayPass(name)));
}

/** What no exclusion names, and is no credential but one that is spelled out. */
function passing(includes: readonly string[], excludes: readonly string[]): (name: string) => boolean {
  const isExcluded = matcher(excludes);
  const spelledOut = new Set(includes.map((pattern) => pattern.toLowerCase()));
  return (name) => name !== TOKEN_HEADER && !isExcluded(name) && (!CREDENTIALS.has(name) || spelledOut.has(name));
}

/** Whether a name is of one of the patterns, in which `*` stands for any text. Names of headers have no case. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const split = patterns.map((pattern) => pattern.toLowerCase().split('*'));
  return (name) => split.some((texts) => matches(name.toLowerCase(), texts));
}

/** Whether these texts stand in a name one after the other, from its beginning to its end, with any text between them. */
function matches(name: string, texts: readonly string[]): boolean {
  const [first = '', ...others] = texts;
  const last = others.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const text of others) {
    const found = name.indexOf(text, at);
    if (found < 0) return false;
    at = found + text.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
