import { expect, test } from 'vitest';
import { parseMarkdown } from '../../../src/console/pages/playground/markdown-tree.ts';

const nestedList = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => `${'  '.repeat(level)}- a`).join('\n');

test.each<[what: string, text: string]>([
  ['quotes in quotes', `${'>'.repeat(20_000)} a`],
  ['lists in lists', nestedList(100)],
  ['lists in one line', `${'1. '.repeat(2_000)}a`],
  ['emphasis that never ends', '*a_'.repeat(5_000)],
  ['brackets that never end', '['.repeat(20_000)],
  ['a long text', 'a'.repeat(50_001)],
])('leaves %s as text', (_, text) => {
  expect(parseMarkdown(text)).toBeUndefined();
});

test('parses what people and models write', () => {
  const answer = `# Title\n\n> a quote\n\n${nestedList(8)}\n\n${'-'.repeat(200)}\n\n${'Some **bold** text. '.repeat(100)}\n\n`;
  expect(parseMarkdown(answer.repeat(10))?.children.length).toBeGreaterThan(40);
});
