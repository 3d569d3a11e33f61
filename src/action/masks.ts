import { secretParts, shortestHidden, spellingsOf } from '../contract/masking/secret-spellings.ts';

/** An address without a user: a log whose addresses are masked cannot be read. */
const isAddress = (text: string): boolean => /^https?:\/\/[^@]*$/i.test(text);

/**
 * What has to be masked so that a secret shows nowhere: the whole and each of its lines, in every spelling. Short
 * values and addresses are left out, for masking them would make the log unreadable.
 */
export function masksOf(secrets: readonly string[]): string[] {
  const parts = secrets.flatMap(secretParts).filter((part) => part.trim().length >= shortestHidden && !isAddress(part));
  return [...new Set(parts.flatMap(spellingsOf).map((spelling) => spelling.trim()))];
}
