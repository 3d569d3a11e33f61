import { shortestHidden } from './secret-spellings.ts';

const shownInstead = '***';

/**
 * Makes what writes `***` wherever one of the words stands in a text; of several that begin at the same place the longest
 * counts. Words of fewer than `shortestHidden` characters are left out.
 *
 * No regular expression is made of them: one that is too long for it is told in the error, and these are secrets.
 */
export function hiderOf(words: Iterable<string>): (text: string) => string {
  const byBegin = new Map<string, WordsByLength>();
  const firsts = new Set<number>();
  for (const word of longestFirst(words)) {
    const begin = word.slice(0, shortestHidden);
    const alike = byBegin.get(begin) ?? new Map<number, Set<string>>();
    byBegin.set(begin, alike.set(word.length, (alike.get(word.length) ?? new Set<string>()).add(word)));
    firsts.add(word.charCodeAt(0));
  }

  /** The length of the longest word that stands at this place; 0 for none. */
  function lengthAt(text: string, at: number): number {
    if (!firsts.has(text.charCodeAt(at))) return 0;
    for (const [length, alike] of byBegin.get(text.slice(at, at + shortestHidden)) ?? []) {
      if (at + length <= text.length && alike.has(text.slice(at, at + length))) return length;
    }
    return 0;
  }

  return (text) => {
    let told = '';
    let from = 0;
    for (let at = 0; at <= text.length - shortestHidden;) {
      const length = lengthAt(text, at);
      if (length > 0) {
        told += text.slice(from, at) + shownInstead;
        from = at + length;
      }
      at += Math.max(1, length);
    }
    return told + text.slice(from);
  };
}

/** Words that begin alike, the longest lengths first: looking one up does not take longer the more there are. */
type WordsByLength = Map<number, Set<string>>;

const longestFirst = (words: Iterable<string>): string[] =>
  [...new Set(words)].filter((word) => word.length >= shortestHidden).sort((one, other) => other.length - one.length);
