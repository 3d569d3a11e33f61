import { describe, expect, test } from 'vitest';
import { commandNames } from '../../../src/deploy/commands/definitions.ts';
import { maxLineLength, parseComment } from '../../../src/deploy/commands/parse.ts';

const command = (body: string) => {
  const parsed = parseComment(body);
  return parsed.kind === 'command' ? parsed.command : parsed;
};

describe('a command', () => {
  test.each(commandNames)('/%s needs no argument', (name) => {
    expect(parseComment(`/${name}`)).toEqual({ kind: 'command', command: { name } });
  });

  test.each([
    ['/deploy support', { name: 'deploy', deployment: 'support' }],
    ['/deploy support 1a2b3c4', { name: 'deploy', deployment: 'support', commit: '1a2b3c4' }],
    ['/deploy 1a2b3c4 support', { name: 'deploy', deployment: 'support', commit: '1a2b3c4' }],
    ['/deploy ignore-freeze', { name: 'deploy', ignoresFreeze: true }],
    [
      '/deploy support 1a2b3c4 ignore-freeze',
      { name: 'deploy', deployment: 'support', commit: '1a2b3c4', ignoresFreeze: true },
    ],
    ['/deploy 1A2B3C4', { name: 'deploy', commit: '1A2B3C4' }],
    ['/deploy 1a2b3c', { name: 'deploy', deployment: '1a2b3c' }],
    ['/deploy 1a2b3c4 5d6e7f8', { name: 'deploy', commit: '1a2b3c4', deployment: '5d6e7f8' }],
    ['/rollback  support  ', { name: 'rollback', deployment: 'support' }],
    ['/test\t20', { name: 'test', times: 20 }],
    ['/test support 3', { name: 'test', deployment: 'support', times: 3 }],
    ['/test 21', { name: 'test', deployment: '21' }],
    ['/status støtte', { name: 'status', deployment: 'støtte' }],
    ['/preview 1a2b3c4', { name: 'preview', commit: '1a2b3c4' }],
    ['/help\r\nThanks!', { name: 'help' }],
  ])('%j has its arguments', (body, expected) => expect(command(body)).toEqual(expected));

  test.each(['/status\n/deploy', '/status\n\nand then\n/rollback support'])(
    'of several in %j the first one counts, and that is known',
    (body) => expect(parseComment(body)).toEqual({ kind: 'command', command: { name: 'status' }, isFirst: true }),
  );

  test.each(['/status\n> /deploy', '/status\n/deployments are nice', '/status\n`/deploy`'])(
    'in %j is the only one',
    (body) => expect(parseComment(body)).toEqual({ kind: 'command', command: { name: 'status' } }),
  );
});

describe('no command', () => {
  test.each([
    ['an empty comment', ''],
    ['a sentence', 'Please /deploy it'],
    ['a quote', '> /deploy'],
    ['a block of code', '```\n/deploy\n```'],
    ['an indented block of code', '    /deploy'],
    ['inline code', '`/deploy`'],
    ['a later line', 'Hello\n/deploy'],
    ['a blank first line', '\n/deploy'],
    ['another bot’s command', '/lgtm'],
    ['a path', '/usr/bin/node is gone'],
    ['a slash', '/'],
    ['a very long word', `/${'d'.repeat(100_000)}`],
    ['a hidden comment', '<!-- x -->/deploy'],
    ['a list', '- /deploy'],
  ])('is %s', (_, body) => expect(parseComment(body)).toEqual({ kind: 'none' }));
});

describe('a problem', () => {
  const problemOf = (body: string) => {
    const parsed = parseComment(body);
    return parsed.kind === 'problem' ? parsed.problem : parsed;
  };

  test.each([
    ['/deplyo', 'deploy'],
    ['/Rollback', 'rollback'],
    ['/roll-back', 'rollback'],
    ['/stauts', 'status'],
  ])('is a slip: %s', (written, meant) => {
    expect(problemOf(written)).toEqual({ code: 'unknown-command', written, meant });
  });

  test.each([
    ['/help me', 'help', 'me'],
    ['/plan support', 'plan', 'support'],
    ['/test support 3 4', 'test', '4'],
    ['/test 3 4 5', 'test', '5'],
    ['/preview support', 'preview', 'support'],
    ['/deploy a b', 'deploy', 'b'],
    [`/rollback ${'x'.repeat(201)}`, 'rollback', 'x'.repeat(201)],
  ])('is an argument too many: %s', (body, name, written) =>
    expect(problemOf(body)).toEqual({ code: 'unknown-argument', command: name, written }),
  );

  test.each([
    ['a zero-width space in the name', '/dep\u200bloy'],
    ['a Cyrillic letter in the name', '/d\u0435ploy'],
    ['a zero-width joiner in an argument', '/deploy sup\u200dport'],
    ['a mark that turns the direction', '/deploy \u202etroppus'],
    ['a variation selector', '/deploy support\ufe0f'],
    ['a control character', '/deploy sup\u0007port'],
  ])('is %s', (_, body) => expect(problemOf(body)).toEqual({ code: 'hidden-characters' }));

  test('is a line that is too long', () => {
    expect(problemOf(`/deploy ${'x'.repeat(maxLineLength)}`)).toEqual({ code: 'too-long', most: maxLineLength });
  });

  test('is found in a long comment in no time', () => {
    const begun = performance.now();
    parseComment(`/status${'\n/x'.repeat(30_000)}`);
    parseComment(`/deploy ${' '.repeat(60_000)}x`);
    expect(performance.now() - begun).toBeLessThan(200);
  });
});
