/**
 * JSON for a `jsonb` column, which can't hold the character NUL, nor half of a surrogate pair: U+FFFD stands for them. To
 * leave them out would make another name of a name: a caller's `own\0er` would count as the `owner` that rules of access
 * have set. A backslash before the escape makes it plain text, so only an odd number of backslashes counts.
 */
export function storable(value: unknown): string {
  const text = JSON.stringify(value);
  if (!/\\u(?:0000|d)/.test(text)) return text;
  return text.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1\uFFFD');
}

/** Text for a column of text, which can't hold the character NUL either. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD');
