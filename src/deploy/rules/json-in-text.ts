/** How many are found in one text, and how many characters are read: each opening bracket may read on to the end. */
const maxFound = 20;
const maxRead = 2_000_000;

/** The value of a text of JSON; undefined where it is none. */
export function parsedJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The objects and lists of JSON within a text, in their order; of those within each other the outermost. */
export function jsonWithin(text: string): unknown[] {
  const found: unknown[] = [];
  const opening = /[[{]/g;
  let left = maxRead;
  for (let start = opening.exec(text); start && left > 0 && found.length < maxFound; start = opening.exec(text)) {
    const end = closingOf(text, start.index, start.index + left);
    left -= (end ?? text.length) - start.index;
    const parsed = end === undefined ? undefined : parsedJson(text.slice(start.index, end));
    if (!parsed) continue;
    found.push(parsed.value);
    opening.lastIndex = end ?? text.length;
  }
  return found;
}

/** Where what begins with a bracket ends; undefined where it does not before `most`. */
function closingOf(text: string, start: number, most: number): number | undefined {
  let depth = 0;
  let isText = false;
  for (let at = start; at < Math.min(text.length, most); at += 1) {
    const sign = text[at];
    if (isText && sign === '\\') at += 1;
    else if (sign === '"') isText = !isText;
    else if (!isText && (sign === '{' || sign === '[')) depth += 1;
    else if (!isText && (sign === '}' || sign === ']')) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}
