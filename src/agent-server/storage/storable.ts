/**
 * JSON for a `jsonb` column, which can't hold the character NUL, nor half of a surrogate pair: they are left out. A
 * backslash before the escape makes it plain text, so only an odd number of backslashes counts.
 */
export function storable(value: unknown): string {
  const text = JSON.stringify(value);
  return /\\u(?:0000|d)/.test(text) ? text.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1') : text;
}

/** Text for a column of text, which can't hold the character NUL either. */
export const storableText = (text: string): string => text.replaceAll('\0', '');
