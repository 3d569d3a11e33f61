import { secretSpellings, shortestHidden } from '../contract/secret-spellings.ts';

const SHOWN_INSTEAD = '***';

/** Takes secrets out of text; made once for what a request carries. */
export type Mask = (text: string) => string;

/** A mask for these secrets, in every spelling in which an answer may repeat them. */
export function maskOf(secrets: readonly (string | undefined)[]): Mask {
  const spelled = new Set(secrets.flatMap((secret) => secretSpellings(secret ?? '')));
  if (spelled.size === 0) return (text) => text;
  // The longest first: a secret that begins like another one must not leave its own end standing.
  const patterns = [...spelled].sort((one, other) => other.length - one.length).map(patternOf);
  const any = new RegExp(patterns.join('|'), 'gu');
  return (text) => text.replace(any, SHOWN_INSTEAD);
}

/** A short secret is masked only where it stands as a word: `1` inside every number would garble the text. */
function patternOf(text: string): string {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  return text.length < shortestHidden ? `(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])` : literal;
}
