const SHOWN_INSTEAD = '***';
/** Below this a secret is masked only where it stands as a word: `1` inside every number would garble the text. */
const SHORT = 4;

/** Takes secrets out of text; made once for what a request carries. */
export type Mask = (text: string) => string;

/**
 * A mask for these secrets, in every spelling in which an answer may repeat them: as they are, as JSON writes them, as
 * a URL writes them, and each line of a long one by itself.
 */
export function maskOf(secrets: readonly (string | undefined)[]): Mask {
  const spelled = new Set(secrets.flatMap((secret) => (secret ? spellings(secret) : [])));
  if (spelled.size === 0) return (text) => text;
  // The longest first: a secret that begins like another one must not leave its own end standing.
  const patterns = [...spelled].sort((one, other) => other.length - one.length).map(patternOf);
  const any = new RegExp(patterns.join('|'), 'gu');
  return (text) => text.replace(any, SHOWN_INSTEAD);
}

function spellings(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const long = lines.filter((line) => line.length >= 2 * SHORT);
  return [secret, secret.trim(), ...long]
    .flatMap((text) => [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed())])
    .filter((text) => text !== '');
}

function patternOf(text: string): string {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  return text.length < SHORT ? `(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])` : literal;
}
