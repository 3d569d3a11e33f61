import { describe, expect, test } from 'vitest';
import {
  asCode,
  asCodeBlock,
  asLine,
  asLogLine,
  asMarkdown,
  jsonWithoutCommands,
  withoutCommands,
} from '../../../src/deploy/words/sanitize.ts';

describe('sanitizes foreign text', () => {
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

/** A line as a runner of GitHub Actions understands it: comparing text, .NET passes over what has no weight. */
function isCommand(line: string): boolean {
  const compared = line.replace(/\p{Default_Ignorable_Code_Point}|[\u0000-\u0008\u000e-\u001f]/gu, '');
  return compared.replace(/^[\s\u0085]+/, '').startsWith('::') || compared.includes('##[');
}

describe('no line of a text is a workflow command', () => {
  test.each([
    ['at the start', '::add-mask::hello'],
    ['on a later line', 'hello\n::set-output name=a::b'],
    ['after a carriage return', 'hello\r::add-mask::x'],
    ['after both', 'hello\r\n  ::add-mask::x'],
    ['after other separators of lines', 'a\u2028::add-mask::x\u2029::add-mask::y\u0085::add-mask::z'],
    ['behind white space that only .NET trims', '\u0085::add-mask::x'],
    ['behind what has no width', '\u200b\u00ad\ufeff::add-mask::x'],
    ['between signs without width', ':\u200b:add-mask::x'],
    ['behind a control character', '\u0001::add-mask::x'],
    ['of the older kind inside a line', 'text ##[add-mask]x'],
    ['of the older kind on a later line', 'a\nb ##[set-output]x ##[error]y'],
    ['of the older kind with signs without width', '#\u200d#\u00ad[error]x'],
    ['of the older kind behind more signs', '####[error]x'],
  ])('%s', (_, text) => {
    expect(text.split(/\r\n|[\r\n\u0085\u2028\u2029]/).some(isCommand) || isCommand(text)).toBe(true);
    expect(
      withoutCommands(text)
        .split(/[\r\n\u0085\u2028\u2029]/)
        .filter(isCommand),
    ).toEqual([]);
  });

  test('and what is none stays as it is', () => {
    const text = '  std::vector\n## [x]\n#[allow]\na ::b';
    expect(withoutCommands(text)).toBe(text);
  });

  test('nor does a line of JSON, which keeps its value', () => {
    const value = { reason: '##[error]no ###[x] #\u200d#[y]' };
    const line = jsonWithoutCommands(JSON.stringify(value));
    expect(isCommand(line)).toBe(false);
    expect(JSON.parse(line)).toEqual(value);
  });
});
