import { InvalidArgumentError } from 'commander';
import { fromJson } from '../../kit/json-text.ts';
import { isUuid } from '../../kit/uuid.ts';

/** How many entries a list has by default, and at most: a page of the service. */
export const defaultLimit = 20;
const maxLimit = 100;

/** Checks `--limit`. @throws InvalidArgumentError */
export function readLimit(text: string): string {
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= maxLimit) return text;
  throw new InvalidArgumentError(`Give a number from 1 to ${maxLimit}.`);
}

/** Checks the id of a revision, a thread or a run. @throws InvalidArgumentError */
export function readId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Give the whole id, as the lists print it.');
}

/** Checks a duration: `30s`, `10m`, `2h`, `7d`. @throws InvalidArgumentError */
export function readDuration(text: string): string {
  if (/^\d{1,5}[smhd]$/.test(text.trim())) return text.trim();
  throw new InvalidArgumentError('Give a number with s, m, h or d, as in 10m.');
}

/** Checks `true` or `false`. @throws InvalidArgumentError */
export const readFlag = (text: string): string => oneOf(['true', 'false'])(text);

/** Checks JSON. @throws InvalidArgumentError */
export function readJson(text: string): string {
  if (fromJson(text) !== undefined) return text;
  throw new InvalidArgumentError('Give JSON, as in \'{"input": "Ada"}\'.');
}

/** Checks that a word is one of these. @throws InvalidArgumentError */
export const oneOf =
  (words: readonly string[]) =>
  (text: string): string => {
    if (words.includes(text)) return text;
    throw new InvalidArgumentError(`Give one of ${words.join(', ')}.`);
  };
