/**
 * A text as it stands in the log: one entry. What follows its first line is moved in, so that no words of a caller's that
 * hold a line break pass for an entry of their own, or for an answer to a command, which begins with a brace.
 */
export const logLine = (text: string): string => `${text.replaceAll(/[\r\n\u2028\u2029]+/g, '\n  ')}\n`;
