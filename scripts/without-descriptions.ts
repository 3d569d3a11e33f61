const description = /\b(description|option|input|file|page):\s*(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")/g;

/** A table of inputs or fields without what is said of each, which only documents and the command line show. */
export const withoutDescriptions = (code: string): string => code.replaceAll(description, `$1: ''`);
