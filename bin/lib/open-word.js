import * as z from "zod";
// src/contract/agent/open-word.ts
/**
* A word of a reply: the document names `known`, and a server may say a newer one, which survives as the string it is.
* What we send ourselves is checked with `z.enum` instead.
*/
function openWord(known) {
	return z.custom((value) => typeof value === "string", { error: `expected a string such as ${known.map((word) => `"${word}"`).join(", ")}` });
}
/** A JSON object whose members nobody has described. */
const freeObject = z.record(z.string(), z.unknown());
export { openWord as n, freeObject as t };
