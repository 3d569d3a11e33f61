import { expect, test } from 'vitest';
import { withoutDescriptions } from '../../scripts/without-descriptions.ts';

test.each([
  [`{ name: 'a', input: 'It\\'s "so".' }`, `{ name: 'a', input: '' }`],
  [`{ description:\n    "the service's own", default: 'x' }`, `{ description: '', default: 'x' }`],
  [`{ file: 'a', page: 'b', option: 'c' }`, `{ file: '', page: '', option: '' }`],
  ["{ input?: string; inputs: 'x' }", "{ input?: string; inputs: 'x' }"],
])('of %j is %j', (code, left) => expect(withoutDescriptions(code)).toBe(left));
