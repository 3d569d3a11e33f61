import { globMatcher, type GlobMatcher } from './glob-matcher.ts';

/** A glob that was compiled, or why it could not be. */
export type CompiledGlob = { ok: true; matches: GlobMatcher } | { ok: false; problem: string };

const maxGlobLength = 200;

const maxStars = 2;
const maxGlobstars = 2;
const maxChoices = 3;

/**
 * Compiles a glob for paths from the root of a repository: `*` and `?` within a segment, `**` across them, `[abc]`,
 * `[!abc]` and `{one,two}`. Letters count as they are, files and folders that begin with a dot are like others, and
 * everything else stands for itself. The problem goes on from the name of the field and quotes nothing.
 */
export function compileGlob(written: string): CompiledGlob {
  const problem = problemOf(written);
  return problem === undefined ? { ok: true, matches: globMatcher(written) } : { ok: false, problem };
}

function problemOf(glob: string): string | undefined {
  if (glob.trim() === '') return 'must not be empty';
  if (glob.length > maxGlobLength) return `must have at most ${maxGlobLength} characters`;
  if (/\p{Cc}/u.test(glob)) return 'must be one line';
  if (glob.includes('\\')) return 'must have forward slashes: a backslash means nothing in it';
  if (glob.startsWith('!')) return 'must not begin with `!`: put it under `exclude`';
  if (/^\.?\//.test(glob)) {
    return 'must be a path from the root of the repository, without a slash before it';
  }
  if (glob.endsWith('/')) return 'must match files, and no file ends with a slash: go on with `**`';
  const segments = glob.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'must not have empty segments, `.` or `..`';
  }
  if (glob.split('{').length > maxChoices + 1) return `must have \`{\` at most ${maxChoices} times`;
  return bracketProblem(glob) ?? starProblem(segments);
}

/** Brackets and braces open and close, are not nested, and hold something; a slash may stand in braces only. */
function bracketProblem(glob: string): string | undefined {
  const rest = glob.replace(/\[!?[^\][{}/!^]+\]/g, (group) => (rangesAreUp(group) ? '' : group));
  const without = rest.replace(/\{[^{}[\],]*(?:,[^{}[\],]*)+\}/g, (group) => (group.includes('..') ? group : ''));
  return /[[\]{}]/.test(without)
    ? 'must close each `[` and `{`: `[abc]` or `[!a-z]` for one character, `{one,two}` for a choice'
    : undefined;
}

/** `z-a` holds no character at all. */
const rangesAreUp = (group: string): boolean =>
  [...group.matchAll(/(.)-(?=([^\]]))/gu)].every(([, from = '', to = '']) => from <= to);

function starProblem(segments: readonly string[]): string | undefined {
  if (segments.filter((segment) => /^\*\*+$/.test(segment)).length > maxGlobstars) {
    return `must have \`**\` at most ${maxGlobstars} times`;
  }
  if (segments.some((segment) => /\*{3}/.test(segment))) return 'must not have more than two `*` in a row';
  if (segments.some((segment) => /\*\*./.test(segment) || /.\*\*/.test(segment))) {
    return 'must have `**` as a whole segment, between slashes';
  }
  return segments.some((segment) => segment !== '**' && segment.split('*').length > maxStars + 1)
    ? `must have \`*\` at most ${maxStars} times in a segment`
    : undefined;
}
