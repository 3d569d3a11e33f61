/** Text that Postgres takes: its `text` refuses the NUL character, its `jsonb` halves of surrogate pairs, too. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/** JSON that `jsonb` takes, in its keys as in its values. A replacer would be called for each of very many values. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  // What JSON.stringify escapes of surrogates is halves of pairs.
  if (!json.includes('\\u0000') && !json.includes('\\ud')) return json;
  return json.replace(/\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|[^])/g, (escaped) =>
    escaped.length > 2 ? '\uFFFD' : escaped,
  );
}
