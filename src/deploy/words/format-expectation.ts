import { formatDuration } from '../file/written-text.ts';
import type { Expectation, Grading, ValueTest } from '../file/smoke-test.ts';

/** Redacts secrets from a text before it is truncated: half a secret would not be recognised. */
export type Redact = (text: string) => string;

/** How untrusted text and values are shown: on one line, truncated, without secrets and control characters. */
export interface TextFormatter {
  /** A value as JSON, cut where it gets long. */
  brief(value: unknown, most?: number): string;
  text(text: string, most?: number): string;
  /** The names of nodes in a row, a long row cut. */
  nodes(names: readonly string[], between: string): string;
}

const longest = 200;
const deepest = 6;
const maxNodes = 20;

/** How far past the cut a text is redacted, to find a secret that crosses it: no environment variable is longer. */
const maxSecretLength = 130_000;

/** The formatters for one response, with secrets removed by `redact`. */
export function createFormatter(redact: Redact): TextFormatter {
  const redacted = (text: string, most: number): string => redact(text.slice(0, most + maxSecretLength));
  const brief = (value: unknown, most = longest): string => cut(written(value, most, 0), most);
  const text = (reported: string, most = longest): string =>
    cut(
      redacted(reported, most * 4)
        .slice(0, most * 4)
        .replace(/\s+/g, ' ')
        .trim(),
      most,
    );

  /** Writes little more than there is room for, however large the value is. */
  function written(value: unknown, room: number, depth: number): string {
    if (typeof value === 'string') return JSON.stringify(redacted(value, room).slice(0, room));
    if (typeof value !== 'object' || value === null) return String(value);
    const isList = Array.isArray(value);
    const parts: string[] = [];
    let used = 2;
    for (const key in value) {
      if (used >= room || depth >= deepest) {
        parts.push('…');
        break;
      }
      const name = isList ? '' : `${JSON.stringify(redacted(key, room).slice(0, room))}: `;
      const part = `${name}${written(Reflect.get(value, key), Math.max(8, room - used - name.length), depth + 1)}`;
      parts.push(part);
      used += part.length + 2;
    }
    return isList ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
  }

  return {
    brief,
    text,
    nodes: (names, between) => {
      if (names.length === 0) return 'none';
      const shown = names.slice(0, maxNodes).map((name) => text(name, 40));
      return [...shown, ...(names.length > maxNodes ? [`… (${names.length})`] : [])].join(between);
    },
  };
}

function cut(text: string, most: number): string {
  const safe = sanitize(text.slice(0, most + 1));
  return safe.length > most ? `${safe.slice(0, most - 1)}…` : safe;
}

const sanitize = (text: string): string =>
  text
    .toWellFormed()
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
    );

/** What kind of thing a value that is no text is, for a sentence. */
export function kindOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

/** Configured text is shown as it is: it comes from a file that holds no secret. */
const asWritten = createFormatter((text) => text);

/** An expectation in words, for example `$.reply contains "hello"`. */
export function formatExpectation(expectation: Expectation): string {
  switch (expectation.kind) {
    case 'status':
      return `status is ${expectation.equals}`;
    case 'value':
      return `${asWritten.text(expectation.path)} ${testWords(expectation.test)}`;
    case 'nodes':
      return expectation.order === 'sequence'
        ? `nodes are ${asWritten.nodes(expectation.nodes, ' → ')}`
        : `nodes include ${asWritten.nodes(expectation.nodes, ', ')}`;
    case 'trajectory':
      return `${asWritten.text(expectation.path)} is ${trajectoryWords[expectation.mode]} the reference trajectory`;
    case 'graded':
      return `${asWritten.text(expectation.path)} ${gradingWords(expectation.grading)}, by ${asWritten.text(expectation.grader.model, 60)}`;
    case 'first-event':
      return `first event within ${formatDuration(expectation.withinMs)}`;
    case 'total':
      return `total within ${formatDuration(expectation.withinMs)}`;
  }
}

const trajectoryWords = {
  strict: 'the same as',
  unordered: 'the same calls in any order as',
  subset: 'no more calls than',
  superset: 'at least the calls of',
} as const;

const gradingWords = (grading: Grading): string =>
  grading.kind === 'judge'
    ? `is judged: ${asWritten.text(grading.criterion)}`
    : `means ${asWritten.brief(grading.text)} (at least ${formatShare(grading.atLeast)})`;

/** A share from 0 to 1 with two digits, never rounded up to what it does not reach. */
export const formatShare = (share: number): string => (Math.floor(share * 100) / 100).toFixed(2);

function testWords(test: ValueTest): string {
  switch (test.kind) {
    case 'equals':
      return `equals ${asWritten.brief(test.value)}`;
    case 'contains':
      return `contains ${asWritten.brief(test.text)}`;
    case 'matches':
      return `matches ${asWritten.text(test.pattern)}`;
    case 'similar':
      return `is similar to ${asWritten.brief(test.text)} (at least ${formatShare(test.atLeast)})`;
    case 'schema':
      return 'fits its JSON Schema';
    case 'json':
      return 'is JSON that fits its JSON Schema';
    case 'contains-json':
      return 'contains JSON that fits its JSON Schema';
  }
}
