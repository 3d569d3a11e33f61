import { decodeEscapes } from './decode-escapes.ts';
import { wordFinder, type Range } from './find-words.ts';
import { secretCodes } from './secret-spellings.ts';

/** What stands in the place of a secret. */
export const shownInstead = '***';

/** Takes secrets out of text. Of a text that was cut at its end, the beginning of a secret is taken out there as well. */
export type Mask = (text: string, options?: { cut: boolean }) => string;

/** Layers of escapes that are taken off: a JSON text in JSON has two. */
const layers = 2;

/**
 * Returns the mask of some secrets. It finds them as they are and in the spellings of `secret-spellings.ts`, in time that
 * is in proportion to the text, whatever the secrets and the text are.
 */
export function maskOf(secrets: Iterable<string>): Mask {
  const find = wordFinder([...secrets].flatMap(secretCodes));
  return (text, { cut } = { cut: false }) => {
    const ranges = find(text, cut);
    let decoded = decodeEscapes(cut ? text.replace(halfAnEscape, '') : text);
    for (let layer = 1; decoded !== undefined && layer <= layers; layer += 1) {
      const { starts } = decoded;
      const original = (at: number): number => starts[at] ?? text.length;
      ranges.push(...find(decoded.text, cut).map(({ start, end }) => ({ start: original(start), end: original(end) })));
      const next = layer < layers ? decodeEscapes(decoded.text) : undefined;
      decoded = next && { text: next.text, starts: next.starts.map(original) };
    }
    return without(text, ranges);
  };
}

/** What a cut leaves of an escape at the end. */
const halfAnEscape = /(?:%[0-9a-f]?|&[#0-9a-z]{0,8}|\\[0-9a-ux{]{0,7})$/i;

function without(text: string, ranges: Range[]): string {
  ranges.sort((one, other) => one.start - other.start || other.end - one.end);
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of ranges) {
    if (start >= from) parts.push(text.slice(from, start), shownInstead);
    from = Math.max(from, end);
  }
  return parts.join('') + text.slice(from);
}
