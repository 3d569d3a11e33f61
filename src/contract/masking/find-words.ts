import { minHiddenLength } from './secret-spellings.ts';

/** A range of a text: `start` inclusive, `end` exclusive. */
export interface Range {
  start: number;
  end: number;
}

/** Of a longer word only this prefix is searched; a match extends as far as the text equals the word. */
const maxComparedLength = 1_024;

/** The comparison limit per character of a text: crafted secrets and output could need far more. */
const comparedPerCharacter = 64;

/**
 * Returns a function that finds words in a text; of several at the same position, the longest. Skips words shorter than
 * `minHiddenLength` characters. In a text that was `cut`, also finds a word's prefix at the end. A text that takes too
 * long is returned as one range.
 *
 * Uses no regular expressions: an oversized one is quoted in its error, and the words are secrets.
 */
export function wordFinder(words: Iterable<string>): (text: string, cut?: boolean) => Range[] {
  const byBegin = new Map<string, Map<number, Map<string, string[]>>>();
  const firsts = new Uint8Array(256);
  for (const word of longestFirst(words)) {
    const begin = word.slice(0, minHiddenLength);
    const head = word.slice(0, maxComparedLength);
    const byLength = byBegin.get(begin) ?? new Map<number, Map<string, string[]>>();
    const heads = byLength.get(head.length) ?? new Map<string, string[]>();
    heads.set(head, [...(heads.get(head) ?? []), ...(word === head ? [] : [word])]);
    byBegin.set(begin, byLength.set(head.length, heads));
    firsts[word.charCodeAt(0) & 255] = 1;
  }

  return (text, cut = false) => {
    let left = comparedPerCharacter * text.length + 16 * maxComparedLength;
    const found: Range[] = [];
    let at = 0;
    while (at <= text.length - minHiddenLength && left > 0) {
      const last = found.at(-1);
      const length = firsts[text.charCodeAt(at) & 255] === 1 ? lengthAt(text, at, last?.end ?? 0) : 0;
      // Words may overlap: both are hidden.
      if (length > 0 && last && at < last.end) last.end = Math.max(last.end, at + length);
      else if (length > 0) found.push({ start: at, end: at + length });
      at += 1;
    }
    return left > 0 ? found : [{ start: 0, end: text.length }];

    /** The length of the longest word at this position; 0 if none extends beyond `hidden`. */
    function lengthAt(of: string, place: number, hidden: number): number {
      for (const [length, heads] of byBegin.get(of.slice(place, place + minHiddenLength)) ?? []) {
        if (place + length <= hidden && !longerAt(hidden - place, of.charCodeAt(hidden), heads)) continue;
        left -= length;
        if (left <= 0) return 0;
        if (cut && place + length > of.length) {
          const rest = of.slice(place);
          left -= heads.size * rest.length;
          if ([...heads.keys()].some((head) => head.startsWith(rest))) return rest.length;
        }
        const longer = place + length <= of.length ? heads.get(of.slice(place, place + length)) : undefined;
        if (longer !== undefined) return longer.reduce((most, word) => Math.max(most, alike(of, place, word)), length);
      }
      return 0;
    }

    /** Whether one of the words with these prefixes has this character at this position. */
    function longerAt(place: number, character: number, heads: Map<string, string[]>): boolean {
      left -= heads.size;
      return [...heads.values()].some((words) => words.some((word) => word.charCodeAt(place) === character));
    }

    function alike(of: string, place: number, word: string): number {
      let length = maxComparedLength;
      while (length < word.length && of.charCodeAt(place + length) === word.charCodeAt(length)) length += 1;
      left -= length;
      return length;
    }
  };
}

const longestFirst = (words: Iterable<string>): string[] =>
  [...new Set(words)].filter((word) => word.length >= minHiddenLength).sort((one, other) => other.length - one.length);
