/** The lines of a text in JSON lines that are not blank: the first of them, and how many there are. */
interface JsonLines {
  /** With the number of the line, from 0. */
  rows: readonly { line: string; index: number }[];
  count: number;
}

/**
 * Splits JSON lines, in one pass and without holding more than `most` of them. A text is taken for JSON lines by its
 * file's name, or where each of several lines is in braces; undefined for any other text.
 */
export function readJsonLines(text: string, file: string, most: number): JsonLines | undefined {
  const isNamed = /\.(?:jsonl|ndjson)$/i.test(file);
  const rows: { line: string; index: number }[] = [];
  let count = 0;
  for (let from = 0, index = 0; from <= text.length; index += 1) {
    const found = text.indexOf('\n', from);
    const end = found === -1 ? text.length : found;
    const line = text.slice(from, end);
    from = end + 1;
    const written = line.trim();
    if (written === '') continue;
    if (!isNamed && !(written.startsWith('{') && written.endsWith('}'))) return undefined;
    count += 1;
    if (count <= most) rows.push({ line, index });
  }
  return isNamed || count > 1 ? { rows, count } : undefined;
}
