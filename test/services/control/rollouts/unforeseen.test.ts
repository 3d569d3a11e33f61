import { expect, test } from 'vitest';
import { stat } from 'node:fs/promises';
import { tenantErrorMessage } from '../../../../src/services/control/rollouts/agent-exits.ts';

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });

test.each([
  ['a full disk', coded("ENOSPC: no space left, write '/srv/data/builds/1'", 'ENOSPC'), 'is full'],
  ['a full disk of Postgres', coded('could not extend file "/srv/data/base/5/2619"', '53100'), 'is full'],
  ['another error of Postgres', coded('could not open file "/srv/data/base/5/1"', '58P01'), '(58P01)'],
  ['a full disk that is only the cause', new Error('/srv/data', { cause: coded('/srv/x', 'ENOSPC') }), 'is full'],
  ['an error without a code', new Error("can't read '/srv/data/key'"), "can't read 'a file of the service'"],
])('shows a tenant %s without a path', (_, error, words) => {
  expect(tenantErrorMessage(error)).toContain(words);
  expect(tenantErrorMessage(error)).not.toContain('/srv');
});

test('shows a tenant a real file system error without its path', async () => {
  const error: unknown = await stat('/nowhere/at-all').catch((thrown: unknown) => thrown);
  expect(tenantErrorMessage(error)).toBe(
    'An error of its machine or database (ENOENT). The log of the service says more.',
  );
});
