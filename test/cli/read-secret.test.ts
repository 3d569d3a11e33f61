import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readSecret } from '../../src/cli/read-secret.ts';

test.each([
  ['Ctrl-C', '\u0003', ''],
  ['Ctrl-D', '\u0004', ''],
  ['a line', 'hunter-22\r', 'hunter-22'],
])('a prompt that %s ends reads what was typed', async (_, typed, secret) => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  terminal.write(typed);
  expect(await readSecret('Key: ', terminal)).toBe(secret);
});
