import { inject } from 'vitest';
import { newCanaryWord } from './canary-word.ts';

/** The canary word of this run; a new one when the reporter is not installed. */
export const canaryWord = (): string => inject('canaryWord') ?? newCanaryWord();

/** Secrets in shapes that are hard to mask, by the names of their variables. */
export const canaries = (word: string): Record<string, string> => ({
  CANARY: `sk-${word}`,
  CANARY_LINES: `-----BEGIN KEY-----\n${word}/1+a==\n  ${word}/2+b==\n-----END ${word}-----\n`,
  CANARY_QUOTES: `{"user":"o'${word}","pass\\word":"a \\"${word}\\" b"}`,
  CANARY_MARKS: `%${word}?a=b&c=<${word}>#$&$1 ü`,
  CANARY_ADDRESS: `https://hooks.example.test/${word}`,
  CANARY_LOGIN: `postgres://user:${word}@db.example.test/agents`,
});
