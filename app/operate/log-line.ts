import type { AppContext } from '../context.ts';

/** One line for the operator: the time, what happened, and what it was about, as `name=value`. */
export function logLine(at: Date, message: string, fields: Parameters<AppContext['log']>[1] = {}): string {
  const reported = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(value)}`],
  );
  return [at.toISOString(), oneLine(message), ...reported].join(' ');
}

const quoted = (value: string | number): string =>
  /^[\w.:/@+-]+$/.test(String(value)) ? String(value) : sanitize(JSON.stringify(value));

/** Stacks keep their lines, each set in, so that a line that begins with a time begins something new. */
const oneLine = (text: string): string => sanitize(text.trimEnd()).replace(/\n/g, '\n    ');

/** Escapes control characters, which a terminal would execute: branch names and services' messages are untrusted. */
const sanitize = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\uFFFD');
