import { RE2JS } from 're2js';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { HeaderRules } from '../../../agent-folder/graph-config/http-config.ts';
import { isClaim } from '../auth/caller.ts';
import { tokenHeader } from '../auth/guard.ts';
import { cancellationHeader, threadStreamHeader } from '../protocols/internal-api.ts';

/** Credentials: used only if a pattern names them exactly. */
const credentialHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'x-tenant-id',
  'x-service-key',
]);

/** The headers that become keys of `configurable` by default, without those that proxies set. */
const isUsual = (name: string): boolean =>
  name === 'user-agent' || (name.startsWith('x-') && !name.startsWith('x-forwarded-'));

/**
 * Maps headers to the `configurable` of a request's runs: `x-*` and `user-agent`, as the public service does, plus
 * `includes`, minus `excludes` and the keys reserved for the authenticated user.
 */
export function configurableHeaders(rules: HeaderRules | null | undefined): (headers: Headers) => FreeObject {
  const { includes = [], excludes } = patternsOf(rules ?? {});
  const isIncluded = matcher(includes);
  const mayPass = passing(includes, excludes);
  return (headers) =>
    Object.fromEntries(
      [...headers].filter(([name]) => (isUsual(name) || isIncluded(name)) && mayPass(name) && !isClaim(name)),
    );
}

/** The headers of a request that its log line shows. */
export function loggedHeaders(rules: HeaderRules): (headers: Headers) => Record<string, string> {
  const { includes = ['*'], excludes } = patternsOf(rules);
  const isIncluded = matcher(includes);
  const mayPass = passing(includes, excludes);
  return (headers) => Object.fromEntries([...headers].filter(([name]) => isIncluded(name) && mayPass(name)));
}

/** The patterns of both spellings; no `includes` if neither is there. */
function patternsOf({ includes, include, excludes, exclude }: HeaderRules) {
  const hasNoIncludes = !includes && !include;
  return {
    includes: hasNoIncludes ? undefined : [...(includes ?? []), ...(include ?? [])],
    excludes: [...(excludes ?? []), ...(exclude ?? [])],
  };
}

/** Headers between parts of this server. */
const ownHeaders: ReadonlySet<string> = new Set([tokenHeader, cancellationHeader, threadStreamHeader]);

/** Matches headers that are not excluded, and credentials only if named exactly. */
function passing(includes: readonly string[], excludes: readonly string[]): (name: string) => boolean {
  const isExcluded = matcher(excludes);
  const spelledOut = new Set(includes.map((pattern) => pattern.toLowerCase()));
  return (name) => !ownHeaders.has(name) && !isExcluded(name) && (!credentialHeaders.has(name) || spelledOut.has(name));
}

/** Matches a name against patterns, in which `*` stands for any text. Header names are case-insensitive. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const texts = pattern.toLowerCase().split('*');
    return RE2JS.compile(texts.map((text) => RE2JS.quote(text)).join('.*'));
  });
  return (name) => expressions.some((expression) => expression.matches(name.toLowerCase()));
}
