import { isObject } from '../../kit/json-object.ts';
import { fromJson } from '../../kit/json-text.ts';
import { messageOf } from '../../kit/errors.ts';

export type ParseResult<Value> = { value: Value; problem?: undefined } | { value?: undefined; problem: string };

/** Parses a JSON value that a person typed. */
export function readJson(text: string): ParseResult<unknown> {
  if (text.trim() === '') return { problem: 'Enter a JSON value.' };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `This is not valid JSON: ${messageOf(error)}.` };
  }
}

/** Parses a JSON object that a person typed. */
export function readJsonObject(text: string): ParseResult<Record<string, unknown>> {
  const read = readJson(text);
  if (read.problem !== undefined) return read;
  return isObject(read.value) ? { value: read.value } : { problem: 'Enter a JSON object: { "key": "value" }.' };
}

/** Parses a JSON object; an empty text is an empty object. */
export const readOptionalJsonObject = (text: string): ParseResult<Record<string, unknown>> =>
  text.trim() === '' ? { value: {} } : readJsonObject(text);

/** A value as JSON for a person to edit; nothing for an absent or empty object. */
export const toJsonText = (value: unknown): string =>
  value == null || (isObject(value) && Object.keys(value).length === 0) ? '' : JSON.stringify(value, undefined, 2);

const pair = /^([^=\s]+)=(.*)$/s;

/** Parses a search such as `user=ada` or `cups=3`: the value is JSON, else a text. */
export function readPair(text: string): Record<string, unknown> | undefined {
  const [, key, value = ''] = pair.exec(text.trim()) ?? [];
  return key === undefined ? undefined : { [key]: fromJson(value) ?? value };
}
