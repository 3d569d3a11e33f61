import { expect, test } from 'vitest';
import { networkSecrets } from '../../../src/control-service/builds/build-environment.ts';

test.each([
  ['a proxy with a password', 'http://me:pass-1@proxy:3128', ['pass-1']],
  ['a password as an address has to spell it', 'http://me:p%40ss-1@proxy:3128', ['p@ss-1']],
  ['a password with a stray percent sign', 'http://me:50%off@proxy:3128', ['50%off']],
  ['a proxy without one', 'http://proxy:3128', []],
  ['no address', 'proxy:3128', []],
  ['nothing', '', []],
])('%s', (_, HTTPS_PROXY, secrets) => {
  expect(networkSecrets({ HTTPS_PROXY })).toEqual(secrets);
});
