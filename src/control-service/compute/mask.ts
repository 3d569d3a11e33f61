import { hiderOf } from '../../contract/hide-words.ts';
import { secretSpellings, shortestHidden } from '../../contract/secret-spellings.ts';

/** Takes secrets out of text. */
export interface Mask {
  /** Wherever a secret stands in the text, `***` stands in the result. */
  whole: (text: string) => string;
  /** The same for text that was cut at its end, where the beginning of a secret may be left. */
  cut: (text: string) => string;
}

/** Makes the mask of some secret values. */
export function maskOf(values: Iterable<string>): Mask {
  const words = [...new Set([...values].flatMap(secretSpellings))].filter((word) => word.length >= shortestHidden);
  const whole = hiderOf(words);
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
    // The first place at which the word may begin is the one that leaves most of it.
    let at = text.indexOf(word.slice(0, 1), Math.max(0, text.length - word.length + 1));
    while (at !== -1 && text.length - at > longest) {
      if (word.startsWith(text.slice(at))) longest = text.length - at;
      at = text.indexOf(word.slice(0, 1), at + 1);
    }
  }
  return longest;
}
