import { cutMark } from '../../kit/plain-text.ts';
import { decodeEscapes, escapeKindsIn } from './decode-escapes.ts';
import { wordFinder, type Range } from './find-words.ts';
import { secretCodes, secretSpellings, minHiddenLength } from './secret-spellings.ts';

export const shownInstead = '***';

/** Masks secrets in a text. In a text that was cut at its end, also masks a secret's prefix there. */
export type Mask = (text: string, options?: { cut: boolean }) => string;

/** Creates a mask of secrets in all spellings of `secret-spellings.ts`, in linear time for any text. */
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

/** Masks the first characters of a text: masking takes time in proportion to what is masked. */
export const maskStart = (mask: Mask, text: string, most: number): string =>
  mask(text.slice(0, most), { cut: text.length > most }).slice(0, most);

/** Masks a text that may be cut before a mark: our own one, or `…` by a text that is made for people. */
export function maskCutText(mask: Mask, text: string): string {
  const mark = [cutMark, '…'].find((each) => text.endsWith(each));
  return mark === undefined ? mask(text) : `${mask(text.slice(0, -mark.length), { cut: true })}${mark}`;
}

/** A mask for these secrets in every spelling that a response may contain; short ones are masked as whole words. */
export function strictMaskOf(secrets: readonly (string | undefined)[]): Mask {
  const given = secrets.filter((secret) => secret !== undefined);
  const hide = maskOf(given);
  const spelled = new Set(given.filter((secret) => secret.trim().length < minHiddenLength).flatMap(secretSpellings));
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
