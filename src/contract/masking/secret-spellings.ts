import { decodeEscapes } from './decode-escapes.ts';
import { withoutControls } from '../../kit/plain-text.ts';

/** Shorter texts (characters) are parts of ordinary words: masking them would garble text and hide nothing. */
export const minHiddenLength = 4;

/** The parts of a secret that may appear alone: the trimmed whole, and each of its lines. */
export function secretParts(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const parts = [secret, secret.trim(), ...lines.filter((line) => line.length >= minHiddenLength)];
  return [...new Set(parts)].filter((part) => part.trim() !== '');
}

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);
/** As Node's `console.log` of an object prints a value, with other quotation marks. */
const asLiteral = (text: string): string => text.split('"').map(asJson).join('"');
const asJsonOfAscii = (text: string): string =>
  asJson(text).replace(/[<>&'\u007f-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
const inSmallLetters = (encoded: string): string => encoded.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const asHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);

/** The escaped forms in JSON, nested JSON, literals, URLs and HTML; each character is decodable by itself. */
function escapesOf(text: string): string[] {
  const encoded = encodeURIComponent(text.toWellFormed());
  const json = [asJson(text), asJson(asJson(text)), asLiteral(text), asJsonOfAscii(text)];
  return [...json, encoded, inSmallLetters(encoded), asHtml(text), asHtml(text).replaceAll('&#39;', '&#x27;')];
}

/** How many leading bytes a program prints: Node prints 50 of a buffer. */
const bytesShown = 50;
/** Shorter base64 inside other bytes could match by chance. */
const minWithinLength = 5;

/** The quoted forms of shells, form encoding, and hexadecimal and base64 encodings. */
function codesOf(text: string): string[] {
  if (text.length < minHiddenLength) return [];
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  const pairs = hex.slice(0, 2 * bytesShown).match(/../g) ?? [];
  const digits = [hex, pairs.join(' '), pairs.join(':')];
  const shell = text.includes("'") ? [text.replaceAll("'", String.raw`'\''`), text.replaceAll("'", `'"'"'`)] : [];
  return [
    ...shell,
    text.replaceAll(' ', '+'),
    ...digits,
    ...digits.map((each) => each.toUpperCase()),
    bytes.toString('base64url'),
    ...[bytes.toString('base64'), ...[0, 1, 2].map((before) => base64Within(bytes, before))].flatMap((each) => [
      each,
      each.replaceAll('+', '-').replaceAll('/', '_'),
    ]),
  ];
}

/** The base64 of these bytes at an offset in other bytes, such as after `user:` in `Authorization`. */
function base64Within(bytes: Buffer, before: number): string {
  if (bytes.length < minWithinLength) return '';
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
}

const distinct = (texts: string[]): string[] => [...new Set(texts)].filter((text) => text !== '');

/** All spellings of a text: as it is, escaped, hexadecimal and base64. */
export const spellingsOf = (text: string): string[] => distinct([text, ...escapesOf(text), ...codesOf(text)]);

/** All spellings of all parts of a secret, for masking by search alone. */
export const secretSpellings = (secret: string): string[] => secretParts(secret).flatMap(spellingsOf);

/** The maximum number of parts, including the whole, whose hexadecimal and base64 forms are searched. */
const maxEncoded = 100;

/** The spellings of all parts of a secret that remain after decoding escapes. */
export const secretCodes = (secret: string): string[] =>
  distinct([...secretParts(secret), ...secretParts(withoutControls(secret))]).flatMap((part, index) =>
    index < maxEncoded ? distinct([...decodedForms(part), ...codesOf(part)]) : [part],
  );

/** A secret as it is, and with its own apparent escapes decoded, as in a decoded text around it. */
function decodedForms(part: string): string[] {
  const once = decodeEscapes(part, 'any').text;
  return [part, once, decodeEscapes(once, 'any').text];
}
