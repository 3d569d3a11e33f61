/** A way in which a program may print a secret; written without the product's own code, which it judges. */
export interface Spelling {
  kind: string;
  /** As it is printed. */
  written: string;
  /** What must not be left of it. */
  core: string;
}

const each = (text: string, spell: (code: number, sign: string) => string): string =>
  Array.from({ length: text.length }, (_, at) => spell(text.charCodeAt(at), text.charAt(at))).join('');
const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** A secret of at least eight characters in all the spellings that are masked. */
export function spellings(secret: string): Spelling[] {
  const bytes = Buffer.from(secret);
  const whole = (kind: string, written: string): Spelling => ({ kind, written, core: written });
  const basic = ['', 'u:', 'me:', 'user:'].flatMap((user) =>
    (['base64', 'base64url'] as const).map((alphabet): Spelling => {
      const written = Buffer.from(`${user}${secret}`).toString(alphabet);
      return { kind: `${alphabet} after "${user}"`, written, core: written.slice(user.length + 4, -6) };
    }),
  );
  const percent = each(bytes.toString('latin1'), (code) => `%${hex(code, 2)}`);
  return [
    whole('plain', secret),
    { kind: 'coloured', written: `${secret.slice(0, 5)}\u001b[1m${secret.slice(5)}`, core: secret },
    whole('hexadecimal', bytes.toString('hex')),
    whole('hexadecimal in capitals', bytes.toString('hex').toUpperCase()),
    { kind: 'buffer', written: `<Buffer ${bytes.toString('hex').match(/../g)?.slice(0, 50).join(' ')}>`, core: '' },
    ...basic,
    whole('URI', encodeURIComponent(secret)),
    whole(
      'URI in small letters',
      encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase()),
    ),
    whole('every byte of a URI', percent),
    whole('a form', new URLSearchParams({ a: secret }).toString().slice(2)),
    whole(
      'HTML',
      secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    ),
    whole(
      'HTML numbers',
      each(secret, (code) => `&#${code};`),
    ),
    whole(
      'HTML hexadecimal numbers',
      each(secret, (code) => `&#x${hex(code, 1)};`),
    ),
    whole('JSON', JSON.stringify(secret).slice(1, -1)),
    whole('JSON in JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3)),
    whole(
      'escapes of JSON',
      each(secret, (code) => `\\u${hex(code, 4)}`),
    ),
    ...(isAscii(secret)
      ? [
          whole(
            'escapes of bytes',
            each(secret, (code) => `\\x${hex(code, 2)}`),
          ),
        ]
      : []),
    whole('single quotes of a shell', secret.replaceAll("'", String.raw`'\''`)),
    whole(
      'backslashes of a shell',
      each(secret, (_, sign) => (/[\w-]/.test(sign) ? sign : `\\${sign}`)),
    ),
  ].map((spelling) => ({
    ...spelling,
    core: spelling.core === '' ? (bytes.toString('hex').match(/../g)?.slice(0, 50).join(' ') ?? '') : spelling.core,
  }));
}
