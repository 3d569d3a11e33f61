import { withoutFullStop } from '../contract/plain-text.ts';

/** Words with one full stop at their end, whether they came with one or not: what services say of a refusal may have it. */
export const asSentence = (words: string): string => `${withoutFullStop(words)}.`;
