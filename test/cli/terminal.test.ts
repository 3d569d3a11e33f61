import { describe, expect, test } from 'vitest';
import { Terminal } from '../../src/cli/terminal.ts';

function heard(json = false) {
  const said = { out: '', err: '' };
  const terminal = new Terminal(
    { out: (text) => void (said.out += text), err: (text) => void (said.err += text) },
    { json },
  );
  return { terminal, said };
}

test('redacts secrets in all output', () => {
  const { terminal, said } = heard();
  terminal.hide('hunter-22');
  terminal.print('the key is hunter-22');
  terminal.complain('hunter-22 was wrong');
  expect(said).toEqual({ out: 'the key is ***\n', err: '*** was wrong\n' });
});

test.each([
  ['as JSON writes it', 'with "quotes"', String.raw`{"a":"with \"quotes\""}`],
  ['as an address writes it', 'a b/c', 'https://host/?q=a%20b%2Fc'],
  ['each line of a long one', 'first-line-of-it\nsecond-line-of-it', 'it said: second-line-of-it'],
])('a secret is hidden %s', (_, secret, line) => {
  const { terminal, said } = heard();
  terminal.hide(secret);
  terminal.print(line);
  expect(said.out).toContain('***');
  expect(said.out).not.toMatch(/quotes|a%20b|second-line/);
});

test('with --json, prints one line of JSON on stdout and nothing else', () => {
  const { terminal, said } = heard(true);
  terminal.print('on the way');
  terminal.conclude({ reason: 'done', lines: 'a\nb' });
  expect(said).toEqual({ out: '{"reason":"done","lines":"a\\nb"}\n', err: 'on the way\n' });
});

test('the result is valid JSON whatever a secret is', () => {
  const { terminal, said } = heard(true);
  for (const secret of ['true', '"reason"', '{', 'outcome']) terminal.hide(secret);
  terminal.conclude({ outcome: 'true result', passes: true });
  expect(JSON.parse(said.out)).toEqual({ outcome: '*** result', passes: true });
});

test('without it prints only lines', () => {
  const { terminal, said } = heard();
  terminal.conclude({ reason: 'done' });
  expect(said.out).toBe('');
});

test('no printed line is a runner command', () => {
  const { terminal, said } = heard();
  terminal.print('a service said\n::set-output name=a::b\r::add-mask::c');
  terminal.complain('and ##[error]d');
  expect(said.out).toBe('a service said\n| ::set-output name=a::b\n| ::add-mask::c\n');
  expect(said.err).toBe('and # #[error]d\n');
});

test('no printed line has control sequences, and none hides a secret or a command', () => {
  const { terminal, said } = heard();
  terminal.hide('hunter-22');
  terminal.print('\u001b[31mred\u001b]0;title\u0007 hun\u001b[0mter-22');
  terminal.complain('\u001b[1m::error::x');
  expect(said).toEqual({ out: 'red ***\n', err: '| ::error::x\n' });
});

describe('text that comes in parts', () => {
  test.each([
    ['with spaces', 'correct horse battery staple', ['it is correct ', 'horse battery ', 'staple.\n'], 'it is ***.\n'],
    ['with a short first word', 'a b c d', ['it is a ', 'b c d.\n'], 'it is ***.\n'],
    ['of two lines', 'first-of-it\nsecond-of-it', ['it is first-of-it\n', 'second-of-it.\n'], 'it is ***.\n'],
    ['without one', 'hunter-22', ['a hun', 'ter-22 b\n'], 'a *** b\n'],
    ['in a long word', 'hunter-22', [`${'漢'.repeat(300)}hun`, 'ter-22\n'], `${'漢'.repeat(300)}***\n`],
  ])('shows nothing of a secret %s', (_, secret, parts, shown) => {
    const { terminal, said } = heard();
    terminal.hide(secret);
    for (const part of parts) terminal.write(part);
    terminal.endText();
    expect(said.out).toBe(shown);
  });

  test('is written while it comes, also where it has no spaces', () => {
    const { terminal, said } = heard();
    terminal.hide('hunter-22');
    for (let part = 0; part < 100; part += 1) terminal.write('漢字'.repeat(5));
    expect(said.out.length).toBeGreaterThan(700);
    terminal.endText();
    expect(said.out).toBe(`${'漢字'.repeat(500)}\n`);
  });
});

test('nor is the result as JSON', () => {
  const { terminal, said } = heard(true);
  terminal.conclude({ reason: '##[error]no' });
  expect(said.out).not.toContain('##[');
  expect(JSON.parse(said.out)).toEqual({ reason: '##[error]no' });
});
