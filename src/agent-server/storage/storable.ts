/**
 * JSON for a `jsonb` column, which can't hold the character NUL: it is left out. A backslash before the escape makes
 * it plain text, so only an odd number of backslashes counts.
 */
export function storable(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\u0000') ? text.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1') : text;
}
