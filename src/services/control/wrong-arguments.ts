import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';

/**
 * Formats an error of Node's `parseArgs`, with a suggestion among `flags` and first `words`. Names an unknown flag
 * without its value, which may be a key.
 */
export function wrongArguments(error: unknown, flags: readonly string[], words: readonly string[] = []): string {
  if (!(error instanceof Error)) return String(error);
  const flag = /^Unknown option '(-[^'=\s]*)/.exec(error.message)?.[1];
  if (flag !== undefined) return `Unknown option ${flag}${didYouMeanClause(flag.replace(/^-+/, ''), flags, '--')}`;
  const word = /^Unexpected argument '([^']*)'/.exec(error.message)?.[1];
  if (word !== undefined) return `Unexpected argument ${word}${didYouMeanClause(word, words)}`;
  return error.message;
}

/** The end of a sentence about an unknown word, with a suggestion. */
export function didYouMeanClause(written: string, known: readonly string[], before = ''): string {
  const meant = didYouMean(written, known);
  return meant === undefined ? '.' : `; did you mean ${before}${meant}?`;
}
