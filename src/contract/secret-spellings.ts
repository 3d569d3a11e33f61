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

/** The ways in which others write a text: as it is, and as JSON, JSON in JSON, a literal, an address and base64 spell it. */
export function spellingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const encoded = text.length < shortestHidden ? [] : [bytes.toString('base64'), bytes.toString('base64url')];
  const escaped = [asJson(text), asJson(asJson(text)), asLiteral(text), encodeURIComponent(text.toWellFormed())];
  return [...new Set([text, ...escaped, ...encoded])];
}

/** Every spelling of every part of a secret: what must show nowhere. */
export const secretSpellings = (secret: string): string[] => secretParts(secret).flatMap(spellingsOf);
