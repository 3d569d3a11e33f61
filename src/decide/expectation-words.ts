import { spoken } from '../config/duration.ts';
import type { Expectation, ValueTest } from '../config/smoke-test.ts';

/** The longest that a person is shown of anything that a stranger sent. */
const longest = 200;

/** A value on one line, as JSON, cut where it gets long. Nothing that could move a terminal's cursor is left in it. */
export const brief = (value: unknown, most = longest): string => cut(written(value, most, 0), most);

/** Text on one line, cut where it gets long. */
export const briefText = (text: string, most = longest): string =>
  cut(
    text
      .slice(0, most * 4)
      .replace(/\s+/g, ' ')
      .trim(),
    most,
  );

function cut(text: string, most: number): string {
  const safe = harmless(text.slice(0, most + 1));
  return safe.length > most ? `${safe.slice(0, most - 1)}…` : safe;
}

const deepest = 6;

/** Writes little more than there is room for, however large the value is. */
function written(value: unknown, room: number, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room));
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  const parts: string[] = [];
  let used = 2;
  for (const key in value) {
    if (used >= room || depth >= deepest) {
      parts.push('…');
      break;
    }
    const name = isList ? '' : `${JSON.stringify(key.slice(0, room))}: `;
    const part = `${name}${written(Reflect.get(value, key), Math.max(8, room - used - name.length), depth + 1)}`;
    parts.push(part);
    used += part.length + 2;
  }
  return isList ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
}

const harmless = (text: string): string =>
  text
    .toWellFormed()
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
    );

/** What kind of thing a value is, for a sentence. */
export function kindOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'text';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

/** An expectation in words, for example `$.reply contains "hello"`. */
export function expectedWords(expectation: Expectation): string {
  switch (expectation.kind) {
    case 'status':
      return `status is ${expectation.equals}`;
    case 'value':
      return `${briefText(expectation.path)} ${testWords(expectation.test)}`;
    case 'nodes':
      return expectation.order === 'sequence'
        ? `nodes are ${nodeWords(expectation.nodes, ' → ')}`
        : `nodes include ${nodeWords(expectation.nodes, ', ')}`;
    case 'first-event':
      return `first event within ${spoken(expectation.withinMs)}`;
    case 'total':
      return `total within ${spoken(expectation.withinMs)}`;
  }
}

function testWords(test: ValueTest): string {
  switch (test.kind) {
    case 'equals':
      return `equals ${brief(test.value)}`;
    case 'contains':
      return `contains ${brief(test.text)}`;
    case 'matches':
      return `matches ${briefText(test.pattern)}`;
    case 'schema':
      return 'fits its JSON Schema';
  }
}

const mostNodes = 20;

/** The names of nodes in a row, a long row cut. */
export function nodeWords(names: readonly string[], between: string): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, mostNodes).map((name) => briefText(name, 40));
  return [...shown, ...(names.length > mostNodes ? [`… (${names.length})`] : [])].join(between);
}
