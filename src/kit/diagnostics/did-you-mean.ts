import { distance } from 'fastest-levenshtein';

/** Longer words are hardly typos, and comparing them is slow. */
const maxWordLength = 64;

/** The known word that was probably meant: one slip for a short word, one per three letters of a long one. */
export function didYouMean(written: string, known: Iterable<string>): string | undefined {
  if (written.length > maxWordLength) return undefined;
  const word = plain(written);
  const turned = withNeighboursTurned(word);
  let nearest: string | undefined;
  let smallest = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const steps = countTypos(plain(candidate), { word, turned, below: smallest });
    if (steps < smallest) {
      smallest = steps;
      nearest = candidate;
    }
  }
  return nearest;
}

/** The number of typos between two words. The library counts two swapped letters as two; here they are one. */
function countTypos(
  meant: string,
  { word, turned, below }: { word: string; turned: readonly string[]; below: number },
) {
  const steps = distance(word, meant);
  return steps < 2 || steps > below
    ? steps
    : turned.reduce((least, each) => Math.min(least, 1 + distance(each, meant)), steps);
}

/** The word with each two letters that stand side by side turned. */
const withNeighboursTurned = (word: string): string[] =>
  Array.from(
    { length: Math.max(0, word.length - 1) },
    (_, at) => `${word.slice(0, at)}${word.charAt(at + 1)}${word.charAt(at)}${word.slice(at + 2)}`,
  );

/** Case and the choice between `-` and `_` are the commonest slips, so they cost nothing. */
const plain = (word: string): string => word.toLowerCase().replaceAll('_', '-');
