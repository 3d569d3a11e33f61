import { maskOf as maskOfLong, shownInstead, type Mask } from '../contract/mask.ts';
import { secretSpellings, shortestHidden } from '../contract/secret-spellings.ts';

export type { Mask } from '../contract/mask.ts';

/** A mask for these secrets in every spelling that a response may contain; short ones are masked as whole words. */
export function maskOf(secrets: readonly (string | undefined)[]): Mask {
  const given = secrets.filter((secret) => secret !== undefined);
  const hide = maskOfLong(given);
  const spelled = new Set(given.filter((secret) => secret.trim().length < shortestHidden).flatMap(secretSpellings));
  if (spelled.size === 0) return hide;
  // The longest first: else the end of a secret that starts like another one would remain.
  const patterns = [...spelled].sort((one, other) => other.length - one.length).map(patternOf);
  const any = new RegExp(patterns.join('|'), 'gu');
  return (text, options) => hide(text, options).replace(any, shownInstead);
}

/** A short secret is masked only as a word: masking each `1` would garble every number. */
function patternOf(text: string): string {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  return `(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`;
}
