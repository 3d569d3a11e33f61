import { decodeEscapes } from './decode-escapes.ts';
import { withoutControls } from './plain-text.ts';

/** Shorter texts (characters) stand in ordinary words: hiding them would garble every sentence and hide nothing. */
export const shortestHidden = 4;

/** What of a secret may be told by itself: the whole, without white space around it, and each of its lines. */
export function secretParts(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const parts = [secret, secret.trim(), ...lines.filter((line) => line.length >= shortestHidden)];
  return [...new Set(parts)].filter((part) => part.trim() !== '');
}

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);
/** As a program prints a value in other quotation marks: Node's `console.log` of an object does. */
const asLiteral = (text: string): string => text.split('"').map(asJson).join('"');
const asJsonOfAscii = (text: string): string =>
  asJson(text).replace(/[<>&'\u007f-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
const inSmallLetters = (encoded: string): string => encoded.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const asHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);

/** As JSON, JSON in JSON, a literal, an address and HTML spell a text: each character by itself, so that it can be decoded. */
function escapesOf(text: string): string[] {
  const encoded = encodeURIComponent(text.toWellFormed());
  const json = [asJson(text), asJson(asJson(text)), asLiteral(text), asJsonOfAscii(text)];
  return [...json, encoded, inSmallLetters(encoded), asHtml(text), asHtml(text).replaceAll('&#39;', '&#x27;')];
}

/** Bytes of which a program shows the beginning: Node prints 50 of a buffer. */
const bytesShown = 50;
/** What base64 makes of fewer characters within other bytes could stand anywhere by chance. */
const shortestWithin = 5;

/** As shells quote a text, forms encode it, and as hexadecimal digits and base64 spell its bytes. */
function codesOf(text: string): string[] {
  if (text.length < shortestHidden) return [];
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

/** What stands in base64 for these bytes wherever a number of others come before them: `user:` does in `Authorization`. */
function base64Within(bytes: Buffer, before: number): string {
  if (bytes.length < shortestWithin) return '';
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
}

const distinct = (texts: string[]): string[] => [...new Set(texts)].filter((text) => text !== '');

/** The ways in which others write a text: as it is, escaped, and in hexadecimal digits and base64. */
export const spellingsOf = (text: string): string[] => distinct([text, ...escapesOf(text), ...codesOf(text)]);

/** Every spelling of every part of a secret: what must show nowhere, for who can only look for words. */
export const secretSpellings = (secret: string): string[] => secretParts(secret).flatMap(spellingsOf);

/** Parts of a secret, the whole among them, that are looked for in hexadecimal digits and base64 too. */
const mostEncoded = 100;

/** The spellings of every part of a secret that are left once escapes are decoded. */
export const secretCodes = (secret: string): string[] =>
  distinct([...secretParts(secret), ...secretParts(withoutControls(secret))]).flatMap((part, index) =>
    index < mostEncoded ? distinct([...decodedForms(part), ...codesOf(part)]) : [part],
  );

/** A secret as it is, and as it reads once what looks like an escape in it was decoded, as it is in a text around it. */
function decodedForms(part: string): string[] {
  const once = decodeEscapes(part, 'any').text;
  return [part, once, decodeEscapes(once, 'any').text];
}
