/**
 * Formats a log entry. Further lines are indented, so that client input with line breaks can't forge an entry or a
 * response to a command, which starts with a brace.
 */
export const logLine = (text: string): string => `${text.replaceAll(/[\r\n\u2028\u2029]+/g, '\n  ')}\n`;
