/** A text with decoded escapes, and the position of each character in the original. */
export interface Decoded {
  text: string;
  /** Has one more entry than characters: the last is the length of the original. */
  starts: Uint32Array;
}

const percent = /(?:%[0-9a-f]{2})+/gi;
const reference = /&(?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos);/gi;
/** Escapes of JSON, programs and shells. */
const backslash = /\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|x[0-9a-f]{2}|[^])/gi;
const any = new RegExp([percent, reference, backslash].map(({ source }) => source).join('|'), 'gi');

/** Which escapes to decode: all, or one kind, since what looks like another kind may be part of a secret. */
export type EscapeKind = 'any' | 'percent' | 'reference' | 'backslash';
const escapes: Record<EscapeKind, RegExp> = { any, percent, reference, backslash };

/** The kinds of escapes in a text. */
export function escapeKindsIn(text: string): EscapeKind[] {
  const signs: [EscapeKind, string][] = [
    ['percent', '%'],
    ['reference', '&'],
    ['backslash', '\\'],
  ];
  const kinds = signs.filter(([, sign]) => text.includes(sign)).map(([kind]) => kind);
  return kinds.length > 1 ? ['any', ...kinds] : kinds;
}

/** Decodes one layer of escapes. */
export function decodeEscapes(text: string, kind: EscapeKind): Decoded {
  const starts = new Uint32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  let from = 0;
  const keep = (end: number): void => {
    parts.push(text.slice(from, end));
    for (; from < end; from += 1, length += 1) starts[length] = from;
  };
  for (const { 0: escape, index } of text.matchAll(escapes[kind])) {
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
  /** The number of characters in the original. */
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

/** Bytes that are not UTF-8 count as single characters. */
function bytesOf(escape: string): Character[] {
  const bytes = Buffer.from(escape.replaceAll('%', ''), 'hex');
  const utf8 = bytes.toString('utf8');
  if (utf8.includes('\ufffd')) return Array.from(bytes.toString('latin1'), (character) => ({ character, width: 3 }));
  return Array.from(utf8, (character) => ({ character, width: 3 * Buffer.byteLength(character) }));
}
