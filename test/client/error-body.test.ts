import { describe, expect, test } from 'vitest';
import { maxDetailLength, readErrorBody } from '../../src/client/attempt-failure.ts';

const plain = (text: string): string => text;
const zod = {
  success: false,
  error: { issues: [{ code: 'invalid_type', path: ['graph_id'], message: 'Required' }], name: 'ZodError' },
};
const union = {
  success: false,
  error: {
    issues: [
      {
        code: 'invalid_union',
        unionErrors: [zod.error, { issues: [{ code: 'x', path: [], message: 'other branch' }] }],
        path: ['stream_mode'],
        message: 'Invalid input',
      },
    ],
  },
};

describe('the detail of an error response', () => {
  test.each<[string, unknown, object]>([
    ['a detail in a sentence', { detail: 'No such deployment' }, { detail: 'No such deployment', problems: [] }],
    [
      'a detail for every field',
      { detail: [{ loc: ['body', 'source_config', 0], msg: 'Field required', type: 'missing', input: { key: 'x' } }] },
      { problems: [{ loc: ['body', 'source_config', 0], msg: 'Field required', type: 'missing' }] },
    ],
    ['a detail list of sentences', { detail: ['one', 'two'] }, { problems: [{ msg: 'one' }, { msg: 'two' }] }],
    ['a detail that is an object', { detail: { message: 'no quota' } }, { detail: 'no quota' }],
    ['the issues of a Zod body', zod, { problems: [{ loc: ['graph_id'], msg: 'Required', type: 'invalid_type' }] }],
    [
      'the first branch of a Zod union',
      union,
      { problems: [{ loc: ['graph_id'], msg: 'Required', type: 'invalid_type' }] },
    ],
    ['a message', { message: 'Forbidden' }, { detail: 'Forbidden' }],
    ['an error in a word', { error: 'not_found' }, { detail: 'not_found' }],
    ['an error with a message', { error: { message: 'Bad gateway' } }, { detail: 'Bad gateway' }],
    ['a bare string', 'Nope', { detail: 'Nope' }],
    ['an object that says nothing', { status: 500 }, { problems: [] }],
    ['a list', [1, 2], { problems: [] }],
  ])('%s', (_, body, expected) => {
    expect(readErrorBody(JSON.stringify(body), plain)).toMatchObject(expected);
  });

  test.each([
    ['plain text', 'Assistant not found', 'Assistant not found'],
    ['many lines become one', 'Error\n  at a\r\n::error::forged', 'Error at a ::error::forged'],
    ['control characters are left out', '\u001b[31mred\u0007', '[31mred'],
    ['only the title of an HTML page', '<!DOCTYPE html><html><head><title>502 Bad\nGateway</title>', '502 Bad Gateway'],
    [
      'the refusal of an object store without what it repeats of the request',
      "<?xml version='1.0' encoding='UTF-8'?><Error><Code>SignatureDoesNotMatch</Code><Message>The signature is wrong.</Message><StringToSign>secret</StringToSign></Error>",
      'SignatureDoesNotMatch: The signature is wrong.',
    ],
    [
      'the details of an object store',
      '<Error xmlns="urn:store"><Code>AccessDenied</Code><Details>Permission &#39;create&#39; denied &amp; logged</Details></Error>',
      "AccessDenied: Permission 'create' denied & logged",
    ],
    ['an object store that says nothing', '<Error><HostId>secret</HostId></Error>', 'an error of an object store'],
    ['an HTML page without a title', '<html><body>secret</body></html>', 'a web page'],
  ])('%s', (_, body, detail) => {
    expect(readErrorBody(body, plain)).toEqual({ detail, problems: [] });
  });

  test('is empty for an empty body', () => {
    expect(readErrorBody('', plain)).toEqual({ problems: [] });
  });

  test('is truncated after secrets are removed', () => {
    const mask = (text: string): string => text.replaceAll('hunter22', '***');
    const { detail = '' } = readErrorBody(`${'x'.repeat(maxDetailLength - 5)}hunter22${'y'.repeat(100)}`, mask);
    expect(detail).toHaveLength(maxDetailLength);
    expect(detail).not.toContain('hunt');
  });

  test('has no secrets in any part', () => {
    const mask = (text: string): string => text.replaceAll('hunter22', '***');
    const body = { detail: [{ loc: ['body', 'hunter22'], msg: 'not hunter22', type: 'hunter22' }] };
    expect(readErrorBody(JSON.stringify(body), mask).problems).toEqual([
      { loc: ['body', '***'], msg: 'not ***', type: '***' },
    ]);
  });

  test('names at most fifty fields', () => {
    const detail = Array.from({ length: 500 }, () => ({ loc: [], msg: 'm', type: 't' }));
    expect(readErrorBody(JSON.stringify({ detail }), plain).problems).toHaveLength(50);
  });
});
