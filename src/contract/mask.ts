import { decodeEscapes, escapeKindsIn } from './decode-escapes.ts';
import { wordFinder, type Range } from './find-words.ts';
import { secretCodes } from './secret-spellings.ts';

/** The replacement of a secret. */
export const shownInstead = '***';

/** Masks secrets in a text. In a text that was cut at its end, also masks a secret's prefix there. */
export type Mask = (text: string, options?: { cut: boolean }) => string;

/**
 * Creates a mask of secrets, in their original form and the spellings of `secret-spellings.ts`. Takes time proportional to
 * the text for any input.
 */
export function maskOf(secrets: Iterable<string>): Mask {
  const find = wordFinder([...secrets].flatMap(secretCodes));

  /** Finds secrets behind one or two layers of escapes, such as JSON in JSON. */
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

/** An incomplete escape at the end of a cut text. */
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
