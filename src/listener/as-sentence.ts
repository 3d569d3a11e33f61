import { withoutFullStop } from '../contract/plain-text.ts';

/** Text that ends with exactly one full stop, with or without one at its end. */
export const asSentence = (words: string): string => `${withoutFullStop(words)}.`;
