import { types } from 'pg';

/** The type `bytea[]`, of any number of dimensions. */
const byteArrays: number = 1001;
const json = new Set<number>([types.builtins.JSON, types.builtins.JSONB]);

/** The bytes of an array of Postgres, as nested as it is there. */
export type ByteArrays = (Buffer | null | ByteArrays)[];

/**
 * The parsers of a connection: the driver's own, but for `bytea[]`, which it reads character by character. That takes 0.2 s
 * for each megabyte, and a state is one such value.
 *
 * @param parseJson of `json` and `jsonb`; the driver's own when absent.
 */
export const typeParsers = (parseJson?: (text: string) => unknown): typeof types => ({
  ...types,
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    const theirs: (value: string) => unknown = types.getTypeParser(oid, 'text');
    if (format === 'binary') return types.getTypeParser(oid, format);
    if (parseJson && json.has(oid)) return parseJson;
    if (oid !== byteArrays) return types.getTypeParser(oid, format);
    return (text: string) => parseByteArrays(text) ?? theirs(text);
  },
});

/** Parses a `bytea[]` as text with its bytes in hex, which is the server's default; undefined if they are written otherwise. */
export function parseByteArrays(text: string): ByteArrays | undefined {
  const open: ByteArrays[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') {
      const end = text.indexOf('"', at + 1);
      if (end < 0 || !text.startsWith(hex, at)) return undefined;
      open.at(-1)?.push(Buffer.from(text.slice(at + hex.length, end), 'hex'));
      at = end + 1;
    } else if (character === '{') {
      const inner: ByteArrays = [];
      open.at(-1)?.push(inner);
      open.push(inner);
      at += 1;
    } else if (character === '}') {
      const closed = open.pop();
      at += 1;
      if (open.length === 0) return at === text.length ? closed : undefined;
    } else if (character === ',') {
      at += 1;
    } else if (text.startsWith('NULL', at)) {
      open.at(-1)?.push(null);
      at += 4;
    } else return undefined;
  }
  return undefined;
}

/** How an element begins: bytes in hex have a backslash, which arrays quote and double. */
const hex = String.raw`"\\x`;
