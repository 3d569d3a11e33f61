// A canary is a secret that sings wherever it is seen, because it holds the word of this run.
import { randomBytes } from 'node:crypto';

declare module 'vitest' {
  interface ProvidedContext {
    /** The word of this run, which the canary reporter makes and listens for. */
    canaryWord: string;
  }
}

/** A word that stands nowhere by chance, and that JSON, addresses and shells leave as it is. */
export const newCanaryWord = (): string => `k${randomBytes(12).toString('hex')}`;

/** Whether a text holds the word: as it is, or in what base64 and hexadecimal digits make of it. */
export function sings(word: string, text: string): boolean {
  const bytes = Buffer.from(word);
  const inBase64 = [0, 1, 2].map((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    // The first and the last digits depend on what stands around the word.
    return digits.slice(before === 0 ? 0 : before + 1, -2);
  });
  const plain = text.replaceAll('+', '-').replaceAll('/', '_');
  return text.includes(word) || text.includes(bytes.toString('hex')) || inBase64.some((each) => plain.includes(each));
}
