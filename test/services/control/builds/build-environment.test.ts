import { afterEach, expect, test } from 'vitest';
import { buildFolder } from '../../../../src/services/control/builds/build-folder.ts';
import { buildEnvironment, networkSecrets } from '../../../../src/services/control/builds/build-environment.ts';
import { temporaryFolder, write } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

test.each([
  ['a proxy with a password', 'http://me:pass-1@proxy:3128', ['pass-1']],
  ['a percent-encoded password', 'http://me:p%40ss-1@proxy:3128', ['p@ss-1']],
  ['a password with a stray percent sign', 'http://me:50%off@proxy:3128', ['50%off']],
  ['a proxy without one', 'http://proxy:3128', []],
  ['no address', 'proxy:3128', []],
  ['nothing', '', []],
])('%s', (_, HTTPS_PROXY, secrets) => {
  expect(networkSecrets({ HTTPS_PROXY })).toEqual(secrets);
});

test('passes registry settings to the user of a build, but no tokens', () => {
  const person = temporaryFolder(atTheEnd);
  write(person, {
    '.npmrc': [
      'registry=https://packages.example/',
      '@acme:registry = https://acme.example/npm/',
      '@other:registry=https://user:canary@other.example/',
      '@token:registry=https://canary@token.example/',
      '//packages.example/:_authToken=canary',
      'strict-ssl=false',
    ].join('\n'),
  });
  const folder = buildFolder('/data', 'r-1');
  const registry = 'https://canary@packages.example/';
  const own = buildEnvironment(folder, '/cache', { HOME: '/nowhere', npm_config_registry: registry }, true);
  expect(JSON.stringify(own)).not.toContain('canary');
  const env = buildEnvironment(folder, '/cache', { HOME: person }, true);
  expect(JSON.stringify(env)).not.toContain('canary');
  expect(env).toMatchObject({
    npm_config_registry: 'https://packages.example/',
    'npm_config_@acme:registry': 'https://acme.example/npm/',
    npm_config_strict_ssl: 'false',
  });
  expect(env).not.toHaveProperty('npm_config_userconfig');
});
