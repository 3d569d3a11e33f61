// Trimming untrusted text and removing terminal controls. Each function takes linear time: an unanchored pattern such
// as `/\s+$/` takes quadratic time on a long run of white space.

/** Escape sequences starting with ESC or CSI, and all control characters but tab and line feed. */
const controls =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Removes escape sequences and control characters; keeps tabs and line feeds. */
export const withoutControls = (text: string): string => text.replace(controls, '');

/** Removes the given characters from the end. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Removes the given characters from the start. */
export function trimStartOf(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start += 1;
  return text.slice(start);
}

/** Removes trailing slashes from a URL or a path. */
export const withoutTrailingSlashes = (address: string): string => trimEndOf(address, '/');

/** Removes full stops and white space from the end of a sentence, to embed it in another one. */
export function withoutFullStop(sentence: string): string {
  let end = sentence.length;
  while (end > 0 && /[.\s]/.test(sentence.charAt(end - 1))) end -= 1;
  return sentence.slice(0, end);
}

/** The text with its first letter as a capital. */
export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Ends a text with exactly one full stop, whether it has one or not. */
export const asSentence = (words: string): string => `${withoutFullStop(words)}.`;

/** Ends a text that was cut, in logs, traced runs and verdicts. Masking hides the start of a secret before it. */
export const cutMark = ' [...]';

/** A text with at most this many characters, the mark at its end included where it was cut. */
export const cutText = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - cutMark.length).toWellFormed()}${cutMark}`;

/** A claim or a sentence of claims as one line: nothing in it breaks a line, or turns the direction of what follows. */
export const asOneLine = (text: string, length: number): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .slice(0, length)
    .toWellFormed();
