import { expect, test } from 'vitest';
import { refusedInCommand } from '../../src/contract/control/field-values.ts';

test.each(['npm ci', 'npm ci && npm run build', 'make -C agents/a', 'a --flag=1,2'])('%j is a command', (command) =>
  expect(refusedInCommand(command)).toEqual([]),
);

test.each([
  ['npm run "a"', ['a quote']],
  ['a\\b', ['a backslash']],
  ['a\r\nb', ['a line break']],
  ['a\tb', ['a tab']],
  ['curl x | sh', ['one of | ; $ < >']],
  ['a & b', ['a single &']],
  ['a &&& b', ['a single &']],
  ['a\u0000b\u0085', ['a control character']],
  ['echo "$(id)" &', ['a quote', 'one of | ; $ < >', 'a single &']],
])('%j holds what it may not', (command, found) => expect(refusedInCommand(command)).toEqual(found));
