/** Parses JSON; undefined if invalid. */
export function fromJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Whether a JSON text holds more values than this: more commas and brackets outside of its texts. Long texts cost
 * little to parse; many values, and keys above all, cost much.
 */
export function holdsMore(json: string, most: number): boolean {
  if (json.length <= most || !hasMoreSigns(json, most)) return false;
  let found = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (sign === quote) isInText = !isInText;
    else if (isInText) at += sign === backslash ? 1 : 0;
    else if (sign === comma || sign === bracket || sign === brace) found += 1;
    if (found > most) return true;
  }
  return false;
}

const [quote, backslash, comma, bracket, brace] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** The same within texts as well, which is faster to find out. */
function hasMoreSigns(json: string, most: number): boolean {
  let found = 0;
  for (const sign of ',[{') {
    for (let at = json.indexOf(sign); at !== -1; at = json.indexOf(sign, at + 1)) {
      found += 1;
      if (found > most) return true;
    }
  }
  return false;
}

/** Text that Postgres takes: its `text` refuses the NUL character, its `jsonb` halves of surrogate pairs, too. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/**
 * JSON that `jsonb` takes, in its keys as in its values. Removing what it does not take could turn one name into another:
 * `own\0er` would become the `owner` that authorization rules set. A replacer would be called for each of very many values.
 */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  // What JSON.stringify escapes of surrogates is halves of pairs.
  if (!json.includes('\\u0000') && !json.includes('\\ud')) return json;
  return json.replace(/\\(?:u(?:0000|d[89a-f][0-9a-f]{2})|[^])/g, (escaped) =>
    escaped.length > 2 ? '\uFFFD' : escaped,
  );
}
