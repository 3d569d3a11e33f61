import { inject } from 'vitest';
import { newCanaryWord } from './canary-word.ts';

/** The word of this run; one of its own where nobody listens. */
export const canaryWord = (): string => inject('canaryWord') ?? newCanaryWord();

/** Secrets of all shapes that give a mask trouble, by the names of their variables. */
export const canaries = (word: string): Record<string, string> => ({
  CANARY: `sk-${word}`,
  CANARY_LINES: `-----BEGIN KEY-----\n${word}/1+a==\n  ${word}/2+b==\n-----END ${word}-----\n`,
  CANARY_QUOTES: `{"user":"o'${word}","pass\\word":"a \\"${word}\\" b"}`,
  CANARY_MARKS: `%${word}?a=b&c=<${word}>#$&$1 ü`,
  CANARY_ADDRESS: `https://hooks.example.test/${word}`,
  CANARY_LOGIN: `postgres://somebody:${word}@db.example.test/agents`,
});
