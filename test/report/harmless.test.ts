import { describe, expect, test } from 'vitest';
import { asCode, asCodeBlock, asLine, asLogLine, asMarkdown } from '../../src/report/harmless.ts';

describe('text of others is made harmless', () => {
  test.each([
    ['colours of a terminal go', '\u001b[31mred\u001b[0m', 'red'],
    ['a title for the window goes', '\u001b]0;owned\u0007hello', 'hello'],
    ['line breaks become spaces', 'one\r\n  two', 'one two'],
    ['marks that turn the direction of writing go', 'a\u202egpj.exe', 'agpj.exe'],
    ['long text is cut', 'x'.repeat(600), `${'x'.repeat(499)}…`],
  ])('%s', (_, text, expected) => expect(asLine(text)).toBe(expected));

  test.each([
    ['a command to the runner', '::add-mask::hello'],
    ['a command behind spaces', '   ::set-output name=a::b'],
    ['an old command inside a line', 'text ##[error]no'],
  ])('%s does not act in a log', (_, text) => {
    const line = asLogLine(text);
    expect(line.trimStart().startsWith('::')).toBe(false);
    expect(line).not.toContain('##[');
  });

  test.each([
    ['a mention', 'thanks @octocat', /@octocat/],
    ['a link', '[click](https://evil.example)', /\]\(|https:\/\//],
    ['an address alone', 'https://evil.example', /https:\/\//],
    ['an address without a scheme', 'www.evil.example', /www\.evil/],
    ['HTML', '<img src=x onerror=alert(1)>', /<img/],
    ['a table cell that ends early', 'a | b', /\|/],
    ['a reference to an issue', 'fixes #12', /#12/],
    ['emphasis', '**bold** `code`', /\*\*|`/],
  ])('%s does not act in Markdown', (_, text, acting) => {
    expect(asMarkdown(text)).not.toMatch(acting);
    expect(asCode(text)).not.toMatch(acting);
  });

  test.each([
    ['a commit', 'commit 0123abc is live', 'commit <code>0123abc</code> is live'],
    ['an id, as a whole', '44444444-4444-4444-8444-44444444444a', '<code>44444444-4444-4444-8444-44444444444a</code>'],
    [
      'not a word',
      'defaced is 7 letters of a commit, faced is not',
      '<code>defaced</code> is 7 letters of a commit, faced is not',
    ],
  ])('%s is shown as it is', (_, text, shown) => expect(asMarkdown(text)).toBe(shown));

  test('a block cannot be left from inside', () => {
    const block = asCodeBlock(['before', '```', '````', '# after']);
    const fence = /^(`+)text$/m.exec(block)?.[1] ?? '';
    expect(fence.length).toBe(5);
    expect(block.split('\n').filter((line) => line.startsWith(fence))).toHaveLength(2);
  });
});
