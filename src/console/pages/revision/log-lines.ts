import type { LogEntry } from '../../../contract/control/log.ts';
import { isLaterId, logLevels, toLogLine, type LogLevel, type LogLine } from './log-line.ts';
import { toSpans } from './ansi.ts';

/** The most lines that are kept in the page; the oldest are dropped. */
export const mostKeptLines = 200_000;

/**
 * The lines of a log, each once and in order, also after a reconnect. Lines have numbers, from 0; the
 * number of a line does not change when older ones are dropped.
 */
export class LogLines {
  /** How many lines were dropped: the number of the first that is kept. */
  dropped = 0;
  readonly #most: number;
  #lines: LogLine[] = [];

  constructor(most = mostKeptLines) {
    this.#most = most;
  }

  /** How many lines there were, the dropped ones included. */
  get count(): number {
    return this.dropped + this.#lines.length;
  }

  get lastId(): string | undefined {
    return this.#lines.at(-1)?.id;
  }

  line(number: number): LogLine | undefined {
    return this.#lines[number - this.dropped];
  }

  append(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      const line = toLogLine(entry);
      const { lastId } = this;
      if (line && (lastId === undefined || isLaterId(line.id, lastId))) this.#lines.push(line);
    }
    if (this.#lines.length <= this.#most) return;
    // Some more than needed, because each removal moves all that stay.
    const removed = this.#lines.length - Math.floor(this.#most * 0.9);
    this.#lines = this.#lines.slice(removed);
    this.dropped += removed;
  }

  /** The number of the line with an id. */
  find(id: string): number | undefined {
    let [low, high] = [0, this.#lines.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isLaterId(id, this.#lines[middle]?.id ?? '')) low = middle + 1;
      else high = middle;
    }
    return this.#lines[low]?.id === id ? low + this.dropped : undefined;
  }
}

export interface LogFilter {
  /** Plain text, in any case; nothing is searched where it is empty. */
  query: string;
  /** The lowest level that is shown. */
  level: LogLevel;
  onlyMatching: boolean;
}

/** The lines of a log that a filter shows, and those of them that match its query: brought up to date line by line. */
export class LogView {
  /** Numbers of lines, ascending. */
  shown: number[] = [];
  matches: number[] = [];
  readonly #lines: LogLines;
  readonly #filter: LogFilter;
  readonly #pattern: RegExp | undefined;
  #next: number;

  constructor(lines: LogLines, filter: LogFilter) {
    this.#lines = lines;
    this.#filter = filter;
    this.#pattern = queryPattern(filter.query, 'i');
    this.#next = lines.dropped;
    this.update();
  }

  /** Adds the new lines, and removes the dropped ones. */
  update(): void {
    const lines = this.#lines;
    const gone = firstFrom(this.shown, lines.dropped);
    if (gone > 0) this.shown = this.shown.slice(gone);
    const goneMatches = firstFrom(this.matches, lines.dropped);
    if (goneMatches > 0) this.matches = this.matches.slice(goneMatches);
    const lowest = logLevels.indexOf(this.#filter.level);
    for (let number = Math.max(this.#next, lines.dropped); number < lines.count; number += 1) {
      const line = lines.line(number);
      if (!line || logLevels.indexOf(line.level) < lowest) continue;
      const isMatch = this.#pattern?.test(line.text) === true;
      if (isMatch) this.matches.push(number);
      if (isMatch || !this.#pattern || !this.#filter.onlyMatching) this.shown.push(number);
    }
    this.#next = lines.count;
  }

  /** The place of a line among the shown ones; of the next one where it is not shown. */
  placeOf(number: number): number {
    return firstFrom(this.shown, number);
  }

  /** The place of the match after or before a line, from the other end where there is none. */
  matchFrom(number: number, step: 1 | -1): number | undefined {
    if (this.matches.length === 0) return undefined;
    const place = step === 1 ? firstFrom(this.matches, number + 1) : firstFrom(this.matches, number) - 1;
    return (place + this.matches.length) % this.matches.length;
  }
}

/** The place of the first number in ascending ones that is not lower. */
function firstFrom(numbers: readonly number[], from: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A pattern that finds a plain text in any case. */
const queryPattern = (query: string, flags: 'i' | 'gi'): RegExp | undefined =>
  query === '' ? undefined : new RegExp(query.replace(/[$()*+./?[\\\]^{|}-]/g, String.raw`\$&`), flags);

/** The part of a long line that is shown in the list, in characters. */
export const longestShown = 2_000;

/** A part of a line with one style. */
interface Piece {
  text: string;
  styles: readonly string[];
  isMatch: boolean;
}

/** The shown part of a line, by colours, fields and matches of the query. */
export function toPieces(line: LogLine, query: string): Piece[] {
  const spans =
    line.fields === undefined
      ? toSpans(line.raw)
      : [
          { text: line.text.slice(0, line.fieldsAt), styles: [] },
          { text: line.text.slice(line.fieldsAt), styles: ['field'] },
        ];
  const matches = matchesIn(line.text.slice(0, longestShown), query);
  const pieces: Piece[] = [];
  let start = 0;
  for (const { text, styles } of spans) {
    const end = Math.min(start + text.length, longestShown);
    const cuts = [...new Set([start, ...matches.flat().filter((at) => at > start && at < end), end])];
    for (const [at, from] of cuts.entries()) {
      const to = cuts[at + 1];
      if (to === undefined || to <= from) continue;
      const isMatch = matches.some(([matchFrom, matchTo]) => from >= matchFrom && to <= matchTo);
      pieces.push({ text: line.text.slice(from, to), styles, isMatch });
    }
    start = end;
    if (start >= longestShown) break;
  }
  return pieces;
}

function matchesIn(text: string, query: string): (readonly [from: number, to: number])[] {
  const pattern = queryPattern(query, 'gi');
  return pattern ? Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => [index, index + length]) : [];
}
