import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The text of a page in the repository. */
export const readPage = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The cells of a Markdown text's table rows, without the rows of dashes. */
export const tableRows = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => /^\|.*\|$/.test(line) && !/^\|[ |:-]+\|$/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

/** The rows of the page's table whose header has these cells first; no rows if there is none. */
export function tableOf(path: string, ...header: readonly string[]): string[][] {
  const starts = (cells: readonly string[]): boolean => header.every((cell, at) => cells[at] === cell);
  const tables = readPage(path)
    .split(/\n(?!\|)/)
    .map(tableRows);
  return tables.find(([first = []]) => starts(first))?.slice(1) ?? [];
}
