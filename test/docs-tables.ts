import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The files below a folder of the repository whose names end so. */
export const filesBelow = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`);

/** The pages of the documentation. */
export const pages: readonly string[] = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...filesBelow('docs', /\.md$/)];

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

/** The anchors of a page, as GitHub makes them of its headings. */
export const anchorsOf = (path: string): string[] =>
  [
    ...readPage(path)
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
