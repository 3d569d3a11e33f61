import { hiderOf } from '../contract/hide-words.ts';
import { secretSpellings, shortestHidden } from '../contract/secret-spellings.ts';

const SHOWN_INSTEAD = '***';

/** Takes secrets out of text; made once for what a request carries. */
export type Mask = (text: string) => string;

/** A mask for these secrets, in every spelling in which an answer may repeat them. */
export function maskOf(secrets: readonly (string | undefined)[]): Mask {
  const spelled = [...new Set(secrets.flatMap((secret) => secretSpellings(secret ?? '')))];
  const hide = hiderOf(spelled);
  const short = spelled.filter((text) => text.length < shortestHidden && text !== '');
  if (short.length === 0) return hide;
  // The longest first: a secret that begins like another one must not leave its own end standing.
  const patterns = short.sort((one, other) => other.length - one.length).map(patternOf);
  const any = new RegExp(patterns.join('|'), 'gu');
  return (text) => hide(text).replace(any, SHOWN_INSTEAD);
}

/** A short secret is masked only where it stands as a word: `1` inside every number would garble the text. */
function patternOf(text: string): string {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  return `(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`;
}
