import { expect, test } from 'vitest';
import { revisionPage } from '../../../src/deploy/machine/console-page.ts';

test.each([
  ['https://control.test/console', 'https://control.test/console/deployments/d1/revisions/r1'],
  ['http://127.0.0.1:8/a/console/', 'http://127.0.0.1:8/a/console/deployments/d1/revisions/r1'],
  ['https://control.test/a)b<c>?d#e', 'https://control.test/a%29b%3Cc%3E/deployments/d1/revisions/r1'],
  ['javascript:alert(1)', undefined],
  ['https://user:word@control.test/console', undefined],
  ['console', undefined],
  [undefined, undefined],
])('of a console at %s is %s', (consoleUrl, page) => {
  expect(revisionPage(consoleUrl, 'd1', 'r1')).toBe(page);
});

test('has ids that change nothing else of its address', () => {
  expect(revisionPage('https://control.test', '../a', 'b?c')).toBe(
    'https://control.test/deployments/..%2Fa/revisions/b%3Fc',
  );
});
