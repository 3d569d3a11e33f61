/** The deepest nesting of a body: more than any graph needs, less than the stack or the database supports. */
export const mostDepth = 1000;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/** Whether JSON nests deeper than `most` levels. Checks the text, before any recursion into the value. */
export function nestsDeeper(json: string, most = mostDepth): boolean {
  // Each level takes at least two characters.
  if (json.length <= 2 * most) return false;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) isText = !isText;
    else if (isText && code === BACKSLASH) at += 1;
    else if (!isText && opening.has(code)) depth += 1;
    else if (!isText && closing.has(code)) depth -= 1;
    if (depth > most) return true;
  }
  return false;
}
