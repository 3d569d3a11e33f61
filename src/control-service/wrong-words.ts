import { didYouMean } from '../diagnostics/did-you-mean.ts';

/**
 * What `parseArgs` of Node has against a command line, with the flag or the word that was probably meant. Of a flag that
 * nobody knows only its name is told, for what was given to it may be a key.
 *
 * @param flags those that there are, without their hyphens.
 * @param words those that may stand in the first place.
 */
export function wrongArguments(error: unknown, flags: readonly string[], words: readonly string[] = []): string {
  if (!(error instanceof Error)) return String(error);
  const flag = /^Unknown option '(-[^'=\s]*)/.exec(error.message)?.[1];
  if (flag !== undefined) return `There is no option ${flag}${orRather(flag.replace(/^-+/, ''), flags, '--')}`;
  const word = /^Unexpected argument '([^']*)'/.exec(error.message)?.[1];
  if (word !== undefined) return `${word} is a word too many${orRather(word, words)}`;
  return error.message;
}

/** The end of a sentence about a word that nobody knows, with the one that was probably meant. */
export function orRather(written: string, known: readonly string[], before = ''): string {
  const meant = didYouMean(written, known);
  return meant === undefined ? '.' : `; did you mean ${before}${meant}?`;
}
