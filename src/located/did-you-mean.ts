import { distance } from 'fastest-levenshtein';

/** Longer words are no slips of a finger, and comparing them costs. */
const longestWord = 64;

/** The known word that was probably meant: one typing slip for a short word, one for every three letters of a long one. */
export function didYouMean(written: string, known: Iterable<string>): string | undefined {
  if (written.length > longestWord) return undefined;
  const word = plain(written);
  let nearest: string | undefined;
  let smallest = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const steps = distance(word, plain(candidate));
    if (steps < smallest) {
      smallest = steps;
      nearest = candidate;
    }
  }
  return nearest;
}

/** Case and the choice between `-` and `_` are the commonest slips, so they cost nothing. */
const plain = (word: string): string => word.toLowerCase().replaceAll('_', '-');
