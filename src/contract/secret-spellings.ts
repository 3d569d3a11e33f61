/** Shorter texts (characters) stand in ordinary words: hiding them would garble every sentence and hide nothing. */
export const shortestHidden = 4;

/** What of a secret may be told by itself: the whole, without white space around it, and each of its lines. */
export function secretParts(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const parts = [secret, secret.trim(), ...lines.filter((line) => line.length >= shortestHidden)];
  return [...new Set(parts)].filter((part) => part.trim() !== '');
}

/** The ways in which others write a text: as it is, and as JSON, an address and base64 spell it. */
export function spellingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const encoded = text.length < shortestHidden ? [] : [bytes.toString('base64'), bytes.toString('base64url')];
  return [...new Set([text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed()), ...encoded])];
}

/** Every spelling of every part of a secret: what must show nowhere. */
export const secretSpellings = (secret: string): string[] => secretParts(secret).flatMap(spellingsOf);
