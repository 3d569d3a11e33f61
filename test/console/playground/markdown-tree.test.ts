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
  ['tildes that never end', '~a'.repeat(20_000)],
  ['emphasis after a code block', `\`\`\`\na_b\n\`\`\`\n${'*a_'.repeat(5_000)}`],
  ['emphasis after what looks like the start of one', `<!--\n\`\`\`\n-->\n\n${'*a_'.repeat(5_000)}`],
  ['emphasis in a footnote', `[^1]: a\n\n    ${'*a_'.repeat(5_000)}\n\n[^1]`],
  ['emphasis in a table', `a|b\n-|-\n${'*a_|b\n'.repeat(1_000)}`],
  ['a long text', 'a'.repeat(50_001)],
])('leaves %s as text', (_, text) => {
  expect(parseMarkdown(text)).toBeUndefined();
});

test.each([
  ['in fences', `\`\`\`python\n${'a_b_c = d_e\n'.repeat(2_000)}\`\`\``],
  ['that still arrives', `~~~\n${'a_b_c = d_e\n'.repeat(2_000)}`],
  ['that is indented', '    a_b_c = d_e\n'.repeat(2_000)],
])('parses a long block of code %s', (_, code) => {
  expect(parseMarkdown(`Some **bold** text:\n\n${code}`)?.children.map(({ type }) => type)).toEqual([
    'paragraph',
    'code',
  ]);
});

test('parses what people and models write', () => {
  const answer = `# Title\n\n> a quote\n\n${nestedList(8)}\n\n${'-'.repeat(200)}\n\n${'Some **bold** text. '.repeat(100)}\n\n`;
  expect(parseMarkdown(answer.repeat(10))?.children.length).toBeGreaterThan(40);
});
