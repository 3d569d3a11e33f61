import { expect, test } from 'vitest';
import { readPage } from '../../../scripts/guide/page.ts';
import { renderPage } from '../../../scripts/guide/render.ts';

const render = (markdown: string, file = 'docs/page.md'): string => {
  const page = readPage(file, 'Page', markdown);
  const other = readPage('docs/design/other.md', 'The other', '# Other');
  return renderPage(page, new Map([page, other].map((each) => [each.file, each]))).html;
};

test.each([
  ['a page', '[it](design/other.md#a)', '<p><a href="design/other.html#a">it</a></p>'],
  ['a page by its file', '[design/other.md](design/other.md)', '<p><a href="design/other.html">The other</a></p>'],
  ['a section of this page', '[it](#a)', '<p><a href="#a">it</a></p>'],
  ['another host', '[it](https://example.com)', '<p><a href="https://example.com" rel="noreferrer">it</a></p>'],
  ['a file that the guide lacks', '[it](../src/main.ts)', '<p><span>it</span></p>'],
])('a link to %s', (_, markdown, html) => expect(render(markdown)).toBe(html));

test('headings of the same title have anchors of their own, as on GitHub', () => {
  const ids = [...render('# A\n\n## Of `b`, c\n\n## Of `b`, c').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(ids).toEqual(['of-b-c', 'of-b-c-1']);
});

test('consecutive examples in several languages are one group', () => {
  const html = render('### curl\n\n```\nask\n```\n\n### Python\n\n```python\nask()\n```\n\nAfter.');
  expect(html.match(/<section data-name="[^"]+">/g)).toEqual([
    '<section data-name="curl">',
    '<section data-name="Python">',
  ]);
  expect(html).toMatch(/<\/section><\/div><p>After\.<\/p>$/);
});

test('raw HTML is left out, but for images', () => {
  expect(render('<script>x</script>\n\n<!-- a -->')).not.toMatch(/script|<!--/);
  expect(render('<img src="a.png" alt="A" width="20">')).toContain(
    '<img src="a.png" alt="A" width="20" loading="lazy">',
  );
});

test('code and cells are escaped', () => {
  expect(render('```\n<b>\n```\n\n| a |\n|---|\n| `<b>` |')).not.toContain('<b>');
});
