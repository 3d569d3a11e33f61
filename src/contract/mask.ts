import { decodeEscapes, escapeKindsIn } from './decode-escapes.ts';
import { wordFinder, type Range } from './find-words.ts';
import { secretCodes } from './secret-spellings.ts';

/** What stands in the place of a secret. */
export const shownInstead = '***';

/** Takes secrets out of text. Of a text that was cut at its end, the beginning of a secret is taken out there as well. */
export type Mask = (text: string, options?: { cut: boolean }) => string;

/**
 * Returns the mask of some secrets. It finds them as they are and in the spellings of `secret-spellings.ts`, in time that
 * is in proportion to the text, whatever the secrets and the text are.
 */
export function maskOf(secrets: Iterable<string>): Mask {
  const find = wordFinder([...secrets].flatMap(secretCodes));

  /** What stands behind one layer of escapes, and behind two: a JSON text in JSON has these. */
  function behindEscapes(text: string, cut: boolean): Range[] {
    return escapeKindsIn(text).flatMap((kind) => {
      const outer = decodeEscapes(text, kind);
      const inner = decodeEscapes(outer.text, kind);
      const original = (at: number): number => outer.starts[at] ?? text.length;
      const within = (at: number): number => original(inner.starts[at] ?? outer.text.length);
      return [
        ...find(outer.text, cut).map(({ start, end }) => ({ start: original(start), end: original(end) })),
        ...find(inner.text, cut).map(({ start, end }) => ({ start: within(start), end: within(end) })),
      ];
    });
  }

  return (text, { cut } = { cut: false }) => {
    const ranges = [...find(text, cut), ...behindEscapes(text, cut)];
    const whole = cut ? text.replace(halfAnEscape, '') : text;
    if (whole !== text) ranges.push(...behindEscapes(whole, cut));
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
