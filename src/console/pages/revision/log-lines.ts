import type { LogEntry } from '../../../contract/control/log.ts';
import { isLaterId, logLevels, toLogLine, type LogLevel, type LogLine } from './log-line.ts';
import { toSpans } from './ansi.ts';

/** The maximum number of lines in the page; the oldest are dropped. */
export const maxKeptLines = 200_000;

/**
 * The lines of a log, each once and in order, also after a reconnect. Lines have numbers, from 0; the
 * number of a line does not change when older ones are dropped.
 */
export class LogLines {
  /** The number of dropped lines, which is also the number of the first line that is left. */
  dropped = 0;
  readonly #maxLines: number;
  #lines: LogLine[] = [];

  constructor(maxLines = maxKeptLines) {
    this.#maxLines = maxLines;
  }

  /** The number of all lines, including dropped ones. */
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
    if (this.#lines.length <= this.#maxLines) return;
    // Remove more than needed, because each removal copies all remaining lines.
    const removed = this.#lines.length - Math.floor(this.#maxLines * 0.9);
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
  /** The text to search, ignoring case; empty for no search. */
  query: string;
  /** The lowest level to show. */
  level: LogLevel;
  onlyMatching: boolean;
}

/** The lines of a log that pass a filter, and those that match its query. Updated incrementally. */
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
    const droppedShown = lowerBound(this.shown, lines.dropped);
    if (droppedShown > 0) this.shown = this.shown.slice(droppedShown);
    const droppedMatches = lowerBound(this.matches, lines.dropped);
    if (droppedMatches > 0) this.matches = this.matches.slice(droppedMatches);
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

  /** The index of a line among the shown ones; of the next one if it is not shown. */
  indexOf(number: number): number {
    return lowerBound(this.shown, number);
  }

  /** The index of the next or previous match; wraps around at the end. */
  matchFrom(number: number, step: 1 | -1): number | undefined {
    if (this.matches.length === 0) return undefined;
    const index = step === 1 ? lowerBound(this.matches, number + 1) : lowerBound(this.matches, number) - 1;
    return (index + this.matches.length) % this.matches.length;
  }
}

/** The index of the first number that is not lower than `from`, in ascending numbers. */
function lowerBound(numbers: readonly number[], from: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A pattern that finds a plain text, ignoring case. */
const queryPattern = (query: string, flags: 'i' | 'gi'): RegExp | undefined =>
  query === '' ? undefined : new RegExp(query.replace(/[$()*+./?[\\\]^{|}-]/g, String.raw`\$&`), flags);

/** How many characters of a line the list shows. */
export const maxShownLength = 2_000;

/** A part of a line with one style. */
interface Piece {
  text: string;
  styles: readonly string[];
  isMatch: boolean;
}

/** Splits the shown part of a line by colours, fields and matches of the query. */
export function toPieces(line: LogLine, query: string): Piece[] {
  const spans =
    line.fields === undefined
      ? toSpans(line.raw)
      : [
          { text: line.text.slice(0, line.fieldsAt), styles: [] },
          { text: line.text.slice(line.fieldsAt), styles: ['field'] },
        ];
  const matches = matchesIn(line.text.slice(0, maxShownLength), query);
  const pieces: Piece[] = [];
  let start = 0;
  for (const { text, styles } of spans) {
    const end = Math.min(start + text.length, maxShownLength);
    const cuts = [...new Set([start, ...matches.flat().filter((at) => at > start && at < end), end])];
    for (const [at, from] of cuts.entries()) {
      const to = cuts[at + 1];
      if (to === undefined || to <= from) continue;
      const isMatch = matches.some(([matchFrom, matchTo]) => from >= matchFrom && to <= matchTo);
      pieces.push({ text: line.text.slice(from, to), styles, isMatch });
    }
    start = end;
    if (start >= maxShownLength) break;
  }
  return pieces;
}

function matchesIn(text: string, query: string): (readonly [from: number, to: number])[] {
  const pattern = queryPattern(query, 'gi');
  return pattern ? Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => [index, index + length]) : [];
}
