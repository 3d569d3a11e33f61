import { isObject } from '../../kit/json-object.ts';
import { cutText } from '../../kit/plain-text.ts';
import type { CommentCommand } from './answer.ts';

/** What a command was decided upon: a run that is started again finds these the same, or does nothing. */
export type Pins = Readonly<Record<string, string>>;

/** A command of a pull request as a comment keeps it. */
export interface CommandRecord extends Omit<CommentCommand, 'outcome'> {
  /** Absent: nothing was decided yet. */
  pins?: Pins;
  /** Absent: it has not ended. `line`: how, in plain text. */
  end?: { code: string; isDone: boolean; line: string };
}

/** How many commands are kept, so that none is carried out again. */
const maxRecords = 40;

/** How many of them are shown, and keep their words. */
export const maxShown = 5;

const maxLineLength = 300;

/** The records with one of them as it is now, newest first. */
export function withRecord(records: readonly CommandRecord[], record: CommandRecord): CommandRecord[] {
  const others = records.filter(({ commentId }) => commentId !== record.commentId);
  return [...others, record].toSorted((one, other) => other.commentId - one.commentId).slice(0, maxRecords);
}

/** The records as one word without signs that end a comment of HTML. */
export function encodeRecords(records: readonly CommandRecord[]): string {
  const kept = records.map((record, index) => (index < maxShown ? shortened(record) : withoutWords(record)));
  return Buffer.from(JSON.stringify(kept)).toString('base64');
}

function shortened({ text, end, ...record }: CommandRecord): CommandRecord {
  return {
    ...record,
    text: cutText(text, maxLineLength),
    ...(end ? { end: { ...end, line: cutText(end.line, maxLineLength) } } : {}),
  };
}

const withoutWords = ({ end, ...record }: CommandRecord): CommandRecord => ({
  ...record,
  text: '',
  ...(end ? { end: { ...end, line: '' } } : {}),
});

/** Reads what `encodeRecords` wrote. Anything else is passed over: a person may have edited the comment. */
export function decodeRecords(written: string): CommandRecord[] {
  try {
    const read: unknown = JSON.parse(Buffer.from(written, 'base64').toString('utf8'));
    return Array.isArray(read) ? read.slice(0, maxRecords).flatMap(recordOf) : [];
  } catch {
    return [];
  }
}

function recordOf(read: unknown): CommandRecord[] {
  if (!isObject(read)) return [];
  const { commentId, by, text, takenAt, pins, end } = read;
  if (typeof commentId !== 'number' || typeof by !== 'string' || typeof text !== 'string') return [];
  if (typeof takenAt !== 'number' || !Number.isFinite(new Date(takenAt).getTime())) return [];
  const record: CommandRecord = { commentId, by, text, takenAt };
  if (isObject(pins))
    record.pins = Object.fromEntries(
      Object.entries(pins).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    );
  if (isObject(end)) {
    const { code, isDone, line } = end;
    if (typeof code !== 'string' || typeof isDone !== 'boolean' || typeof line !== 'string') return [];
    record.end = { code, isDone, line };
  }
  return [record];
}

/** Whether what was decided before is decided now. */
export const samePins = (before: Pins, now: Pins): boolean =>
  Object.keys({ ...before, ...now }).every((name) => before[name] === now[name]);
