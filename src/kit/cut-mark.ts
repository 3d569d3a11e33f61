/** Ends a text that was cut, in logs, traced runs and verdicts. Masking hides the start of a secret before it. */
export const cutMark = ' [...]';

/** A text with at most this many characters, the mark at its end included where it was cut. */
export const cutText = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - cutMark.length).toWellFormed()}${cutMark}`;
