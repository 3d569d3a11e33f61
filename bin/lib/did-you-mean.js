import { distance } from "fastest-levenshtein";
// src/located/did-you-mean.ts
/** Longer words are no slips of a finger, and comparing them costs. */
const longestWord = 64;
/** The known word that was probably meant: one typing slip for a short word, one for every three letters of a long one. */
function didYouMean(written, known) {
	if (written.length > longestWord) return void 0;
	const word = plain(written);
	let nearest;
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
const plain = (word) => word.toLowerCase().replaceAll("_", "-");
export { didYouMean as t };
