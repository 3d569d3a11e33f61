/** A text after its escapes were decoded, and where in the original each of its characters begins. */
export interface Decoded {
  text: string;
  /** One more than there are characters: the last is the length of the original. */
  starts: Uint32Array;
}

/** Percent encoding, character references of HTML, and what stands after a backslash in JSON, programs and shells. */
const escapes =
  /(?:%[0-9a-f]{2})+|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos);|\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|x[0-9a-f]{2}|[^])/gi;

/** Decodes one layer of escapes, of every kind at once; undefined where there are none. */
export function decodeEscapes(text: string): Decoded | undefined {
  if (!/[%&\\]/.test(text)) return undefined;
  const starts = new Uint32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  let from = 0;
  const keep = (end: number): void => {
    parts.push(text.slice(from, end));
    for (; from < end; from += 1, length += 1) starts[length] = from;
  };
  for (const { 0: escape, index } of text.matchAll(escapes)) {
    keep(index);
    for (const { character, width } of charactersOf(escape)) {
      parts.push(character);
      starts.fill(from, length, length + character.length);
      length += character.length;
      from += width;
    }
  }
  keep(text.length);
  starts[length] = text.length;
  return { text: parts.join(''), starts };
}

interface Character {
  character: string;
  /** Of how many characters of the original. */
  width: number;
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const afterBackslash: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function charactersOf(escape: string): Character[] {
  if (escape.startsWith('%')) return bytesOf(escape);
  const width = escape.length;
  if (escape.startsWith('&')) {
    const name = escape.slice(1, -1).toLowerCase();
    const hexadecimal = name.startsWith('#x');
    const code = hexadecimal ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return [{ character: named[name] ?? fromCode(code), width }];
  }
  const rest = escape.slice(1);
  if (rest.length === 1) return [{ character: afterBackslash[rest] ?? rest, width }];
  return [{ character: fromCode(Number.parseInt(rest.slice(1).replace(/[{}]/g, ''), 16)), width }];
}

const fromCode = (code: number): string => (code <= 0x10_ffff ? String.fromCodePoint(code) : '\ufffd');

/** Bytes that are no UTF-8 count as characters of their own. */
function bytesOf(escape: string): Character[] {
  const bytes = Buffer.from(escape.replaceAll('%', ''), 'hex');
  const utf8 = bytes.toString('utf8');
  if (utf8.includes('\ufffd')) return Array.from(bytes.toString('latin1'), (character) => ({ character, width: 3 }));
  return Array.from(utf8, (character) => ({ character, width: 3 * Buffer.byteLength(character) }));
}
