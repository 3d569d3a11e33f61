import { toSpans } from './ansi.ts';
import type { LogLine } from './log-line.ts';
import { queryPattern } from './log-lines.ts';

/** The part of a long line that is shown in the list, in characters. */
export const longestShown = 2_000;

/** A part of a line with one style. */
export interface Piece {
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
