import { maskOf as maskOfLong, shownInstead, type Mask } from '../contract/mask.ts';
import { secretSpellings, shortestHidden } from '../contract/secret-spellings.ts';

export type { Mask } from '../contract/mask.ts';

/** A mask for these secrets, in every spelling in which an answer may repeat them; short ones where they stand as words. */
export function maskOf(secrets: readonly (string | undefined)[]): Mask {
  const given = secrets.filter((secret) => secret !== undefined);
  const hide = maskOfLong(given);
  const spelled = new Set(given.filter((secret) => secret.trim().length < shortestHidden).flatMap(secretSpellings));
  if (spelled.size === 0) return hide;
  // The longest first: a secret that begins like another one must not leave its own end standing.
  const patterns = [...spelled].sort((one, other) => other.length - one.length).map(patternOf);
  const any = new RegExp(patterns.join('|'), 'gu');
  return (text, options) => hide(text, options).replace(any, shownInstead);
}

/** A short secret is masked only where it stands as a word: `1` inside every number would garble the text. */
function patternOf(text: string): string {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  return `(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`;
}
