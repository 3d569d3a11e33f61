// Text of others at its ends and without what acts on a terminal. Each function takes time in proportion to the text: an
// unanchored pattern such as `/\s+$/` is tried again at every character of a run, which a long run makes quadratic.

/** A sequence that begins with ESC or CSI, with what belongs to it, and every control character but tab and line feed. */
const controls =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** The text without escape sequences of terminals and control characters; tabs and line feeds stay. */
export const withoutControls = (text: string): string => text.replace(controls, '');

/** The text without those of the characters that stand at its end. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The text without those of the characters that stand at its beginning. */
export function trimStartOf(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start += 1;
  return text.slice(start);
}

/** An address or a path without the slashes at its end. */
export const withoutTrailingSlashes = (address: string): string => trimEndOf(address, '/');

/** A sentence without the full stops and white space at its end, to be a part of another one. */
export function withoutFullStop(sentence: string): string {
  let end = sentence.length;
  while (end > 0 && /[.\s]/.test(sentence.charAt(end - 1))) end -= 1;
  return sentence.slice(0, end);
}
