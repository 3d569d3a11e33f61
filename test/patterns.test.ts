import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { analyse } from 'scslre';
import { expect, test } from 'vitest';
import { isObject } from '../src/kit/json-object.ts';

const root = dirname(import.meta.dirname);

interface Pattern {
  place: string;
  source: string;
  flags: string;
}

/** Every regular expression literal of a file, wherever it stands. */
function patternsOf(file: string): Pattern[] {
  const text = readFileSync(file, 'utf8');
  const found: Pattern[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) visit(each);
    if (!isObject(node)) return;
    const { regex, start } = node;
    if (isObject(regex) && typeof regex['pattern'] === 'string' && typeof regex['flags'] === 'string') {
      const line = text.slice(0, Number(start)).split('\n').length;
      found.push({ place: `${relative(root, file)}:${line}`, source: regex['pattern'], flags: regex['flags'] });
    }
    Object.values(node).forEach(visit);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }));
  return found;
}

/** Returns whether some text makes the pattern try much more than it has characters, also by trying at each of them. */
const isSlow = ({ source, flags }: Pick<Pattern, 'source' | 'flags'>): boolean =>
  analyse({ source, flags }, { reportTypes: { Self: true, Trade: true, Move: true } }).reports.length > 0;

const patterns = ['src', 'app']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .flatMap((entry) => patternsOf(join(entry.parentPath, entry.name)));

test('finds the patterns of the sources', () => {
  expect(patterns.length).toBeGreaterThan(400);
});

test.each([/\r+$/, /\s+$/, /\/+$/g, /\s*\r?\n\s*/, /^(\w+\s?)*$/])('%s is slow', (pattern) => {
  expect(isSlow(pattern)).toBe(true);
});

test('no pattern takes more than time in proportion to the text', () => {
  expect(patterns.filter(isSlow).map(({ place, source }) => `${place} /${source}/`)).toEqual([]);
});
