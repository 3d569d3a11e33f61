/**
 * JSON for a `jsonb` column, which can't hold NUL or a lone surrogate: each is replaced by U+FFFD. Removing them could
 * turn one name into another: `own\0er` would become the `owner` that authorization rules set. A backslash before the
 * escape makes it plain text, so only an odd number of backslashes counts.
 */
export function storable(value: unknown): string {
  const text = JSON.stringify(value);
  if (!/\\u(?:0000|d)/.test(text)) return text;
  return text.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '$1\uFFFD');
}

/** Text for a text column, which can't hold NUL either. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD');
