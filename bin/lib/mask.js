// src/client/mask.ts
const SHOWN_INSTEAD = "***";
/** Below this a secret is masked only where it stands as a word: `1` inside every number would garble the text. */
const SHORT = 4;
/**
* A mask for these secrets, in every spelling in which an answer may repeat them: as they are, as JSON writes them, as
* a URL writes them, and each line of a long one by itself.
*/
function maskOf(secrets) {
	const spelled = new Set(secrets.flatMap((secret) => secret ? spellings(secret) : []));
	if (spelled.size === 0) return (text) => text;
	const patterns = [...spelled].sort((one, other) => other.length - one.length).map(patternOf);
	const any = new RegExp(patterns.join("|"), "gu");
	return (text) => text.replace(any, SHOWN_INSTEAD);
}
function spellings(secret) {
	const long = secret.split(/\r?\n/).map((line) => line.trim()).filter((line) => line.length >= 8);
	return [
		secret,
		secret.trim(),
		...long
	].flatMap((text) => [
		text,
		JSON.stringify(text).slice(1, -1),
		encodeURIComponent(text.toWellFormed())
	]).filter((text) => text !== "");
}
function patternOf(text) {
	const literal = text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
	return text.length < SHORT ? `(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])` : literal;
}
export { maskOf as t };
