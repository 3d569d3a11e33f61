import type { LogEntry } from '../../../contract/control/log.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { isObject } from '../../../kit/json-object.ts';
import { withoutAnsi } from './ansi.ts';

export const logLevels = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A line of a log in the page. */
export interface LogLine {
  id: string;
  /** Milliseconds since the epoch; NaN if unknown. */
  at: number;
  level: LogLevel;
  /** The line as written by the program. */
  raw: string;
  /** The text to show and search: without escape sequences; for a JSON line, the message followed by the fields. */
  text: string;
  /** The index in `text` at which the fields of a JSON line begin. */
  fieldsAt: number;
  /** The fields of a JSON line besides its message, level and time. */
  fields: Readonly<Record<string, unknown>> | undefined;
}

/** Reads a line of the service; undefined for one without an id, from which reading could not be resumed. */
export function toLogLine({ id, timestamp, level, message }: LogEntry): LogLine | undefined {
  if (id === undefined || id === null) return undefined;
  const common = { id: String(id), at: new Date(timestamp ?? NaN).getTime(), raw: message };
  const json = readJsonLine(message);
  if (!json) {
    const text = withoutAnsi(message);
    return { ...common, level: toLevel(level) ?? 'info', text, fieldsAt: text.length, fields: undefined };
  }
  const shown = withoutAnsi(json.message);
  const pairs = Object.entries(json.fields).map(([name, value]) => ` ${name}=${withoutAnsi(toShort(value))}`);
  return {
    ...common,
    level: toLevel(json.level) ?? toLevel(level) ?? 'info',
    text: shown + pairs.join(''),
    fieldsAt: shown.length,
    fields: json.fields,
  };
}

const messageNames = ['message', 'msg', 'event'];
const levelNames = ['level', 'severity', 'levelname'];
const timeNames = ['time', 'timestamp', 'ts', '@timestamp', 'asctime'];

interface JsonLine {
  message: string;
  level: unknown;
  fields: Readonly<Record<string, unknown>>;
}

/** A line of a structured logger, such as pino, structlog or zap: a JSON object with a message. */
function readJsonLine(message: string): JsonLine | undefined {
  if (!message.startsWith('{') || !message.trimEnd().endsWith('}')) return undefined;
  const value = fromJson(message);
  if (!isObject(value)) return undefined;
  const name = messageNames.find((each) => typeof value[each] === 'string');
  if (name === undefined) return undefined;
  const known = new Set([name, ...levelNames, ...timeNames]);
  const level = levelNames.find((each) => Object.hasOwn(value, each));
  return {
    message: String(value[name]),
    level: level === undefined ? undefined : value[level],
    fields: Object.fromEntries(Object.entries(value).filter(([each]) => !known.has(each))),
  };
}

const toShort = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

const levelPatterns: readonly (readonly [LogLevel, RegExp])[] = [
  ['error', /^(err|error|critical|fatal|crit|alert|emerg|panic)/i],
  ['warning', /^warn/i],
  ['info', /^(info|notice|log)/i],
  ['debug', /^(debug|trace|verbose)/i],
];

/** The level of a name or of a pino number; undefined for others. */
function toLevel(level: unknown): LogLevel | undefined {
  if (typeof level === 'number')
    return level >= 50 ? 'error' : level >= 40 ? 'warning' : level >= 30 ? 'info' : 'debug';
  return typeof level === 'string' ? levelPatterns.find(([, words]) => words.test(level))?.[0] : undefined;
}

/** `14:03:09.120`, in the time zone of the browser. */
export function clockTime(at: number): string {
  if (Number.isNaN(at)) return '';
  const date = new Date(at);
  const twoDigits = (part: number): string => String(part).padStart(2, '0');
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** Whether the id of a line is later than another. Ids are ascending decimal numbers. */
export const isLaterId = (id: string, otherId: string): boolean =>
  id.length === otherId.length ? id > otherId : id.length > otherId.length;
