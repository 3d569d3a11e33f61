import type { GlobMatcher } from '../config/glob-matcher.ts';
import { compileGlob } from '../config/glob.ts';
import type { ChangedPaths, PushRules } from './trigger-types.ts';

/** Globs that say which paths of a repository belong to a deployment. Where `include` is empty, all do. */
export type PathRules = NonNullable<PushRules['paths']>;

/** Longer paths (UTF-16 code units) are not matched. */
const longestPath = 400;

/** Steps that matching all paths of one push may take: they hold the event loop for less than 50 ms. */
const mostSteps = 1_000_000;

/**
 * Whether a change of this path is for the deployment: one of `include` matches it and none of `exclude` does. What
 * cannot be matched counts, as does every path after the steps are used up: a build too many is better than one too few.
 */
export function countingPath(rules: PathRules): (path: string) => boolean {
  const included = matchers(rules.include, true);
  const excluded = matchers(rules.exclude, false);
  const budget = { left: mostSteps };
  const isMatched = (path: string) => (matches: GlobMatcher) => matches(path, budget);
  return (path) => {
    if (path.length > longestPath) return true;
    const counts = included.length === 0 || included.some(isMatched(path));
    return (counts && !excluded.some(isMatched(path))) || budget.left <= 0;
  };
}

/** `otherwise`: what a glob says of every path that is none; the file was refused, but rules may be older than that. */
function matchers(globs: readonly string[], otherwise: boolean): GlobMatcher[] {
  return globs.map((glob) => {
    const compiled = compileGlob(glob);
    return compiled.ok ? compiled.matches : () => otherwise;
  });
}

/**
 * Why a push changed no path of the deployment, as one clause without a full stop; undefined if it did change one, or
 * if that is unknown.
 */
export function untouchedPaths(rules: PathRules | undefined, changed: ChangedPaths | undefined): string | undefined {
  if (!rules || changed?.kind !== 'known') return undefined;
  if (changed.paths.some(countingPath(rules))) return undefined;
  const { length } = changed.paths;
  if (length === 0) return 'it changes no file since what stands';
  const since = length === 1 ? 'the one path that changed' : `none of the ${length} paths that changed`;
  return `${since} ${length === 1 ? 'is not' : 'is'} among those that the deploy file counts`;
}
