import { secretSpellings, shortestHidden } from '../../contract/secret-spellings.ts';

/** Takes secrets out of text. */
export interface Mask {
  /** Wherever a secret stands in the text, `***` stands in the result. */
  whole(text: string): string;
  /** The same for text that was cut at its end, where the beginning of a secret may be left. */
  cut(text: string): string;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Makes the mask of some secret values. */
export function maskOf(values: Iterable<string>): Mask {
  const words = [...new Set([...values].flatMap(secretSpellings))].filter((word) => word.length >= shortestHidden);
  // The longest first: a secret may begin with another one.
  words.sort((one, other) => other.length - one.length);
  const pattern = words.length === 0 ? undefined : new RegExp(words.map(escaped).join('|'), 'g');
  const whole = (text: string): string => (pattern ? text.replace(pattern, '***') : text);
  const cut = (text: string): string => {
    const masked = whole(text);
    return masked.slice(0, masked.length - longestBeginning(masked, words));
  };
  return { whole, cut };
}

/** How many characters at the end of a text are the beginning of one of the words. */
function longestBeginning(text: string, words: readonly string[]): number {
  let longest = 0;
  for (const word of words) {
    for (let length = Math.min(word.length - 1, text.length); length > longest; length -= 1) {
      if (text.endsWith(word.slice(0, length))) longest = length;
    }
  }
  return longest;
}
