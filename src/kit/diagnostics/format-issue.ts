import type * as z from 'zod';

type Issue = z.core.$ZodIssue;

const kinds: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'a map',
  record: 'a map',
  null: 'empty',
  undefined: 'absent',
};

const formats: Record<string, string> = {
  uuid: 'must be a uuid',
  guid: 'must be a uuid',
  url: 'must be a URL',
  email: 'must be an e-mail address',
  datetime: 'must be a date and time in ISO 8601',
};

/** What kind of thing stands there, never what it says. */
export function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'boolean') return 'true or false';
  return kinds[typeof value] ?? 'something else';
}

/** The words that an enum or a literal allows; empty for every other issue. */
export function allowedWords(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code === 'invalid_union' && !('matches' in issue)) return (issue.options ?? []).map(String);
  return [];
}

/** A sentence about the field `name` (empty for the whole), whose value is `found`. */
export function formatIssue(issue: Issue, name: string, found: unknown): string {
  const it = name === '' ? 'this' : `\`${name}\``;
  if (issue.code === 'custom') return own(issue.message, it, name);
  if (found === undefined) return `${it} is missing`;
  const words = allowedWords(issue);
  if (words.length > 0) return `${it} must be ${words.length > 1 ? 'one of ' : ''}${quoted(words)}`;
  switch (issue.code) {
    case 'invalid_type':
      return `${it} must be ${kinds[issue.expected] ?? issue.expected}, not ${kindOf(found)}`;
    case 'too_small':
      return issue.origin === 'string' && Number(issue.minimum) === 1
        ? `${it} must not be empty`
        : `${it} must ${amount(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`;
    case 'too_big':
      return `${it} must ${amount(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`;
    case 'invalid_format':
      return issue.message.startsWith('Invalid')
        ? `${it} ${formats[issue.format] ?? 'is not written as it must be'}`
        : own(issue.message, it, name);
    case 'invalid_key':
      return `${it} is not a name that is allowed here`;
    case 'not_multiple_of':
      return `${it} must be a multiple of ${issue.divisor}`;
    default:
      return issue.message.startsWith('Invalid') ? `${it} is not what belongs here` : own(issue.message, it, name);
  }
}

/** A schema's own message: `must ...` goes on from the name, anything else follows it. */
function own(message: string, it: string, name: string): string {
  if (message === 'Invalid input') return `${it} is not what belongs here`;
  if (/^(must|cannot|is|holds|has) /.test(message)) return `${it} ${message}`;
  return name === '' ? message : `${it}: ${message}`;
}

function amount(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string') return `have ${bound} ${limit} ${Number(limit) === 1 ? 'character' : 'characters'}`;
  if (origin === 'array' || origin === 'set') return `have ${bound} ${limit} ${Number(limit) === 1 ? 'item' : 'items'}`;
  return `be ${bound} ${limit}`;
}

/** The words, each in backquotes. */
export const quoted = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');
