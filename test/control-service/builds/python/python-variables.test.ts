import { expect, test } from 'vitest';
import { indexSecrets, pythonVariables } from '../../../../src/control-service/builds/python/python-variables.ts';

const env = {
  PIP_INDEX_URL: 'https://user:canary@index.example/simple',
  PIP_EXTRA_INDEX_URL: 'https://one.example/simple https://t%40ken@two.example/simple',
  UV_INDEX: 'private=https://user:third@index.example/simple',
  PIP_CERT: '/etc/certificates.pem',
  PIP_TARGET: '/elsewhere',
};

test('builds get the indexes of the service, and caches of their tenant', () => {
  const variables = pythonVariables('/cache/t-1', env, false);
  const { PIP_TARGET, ...passed } = env;
  expect(variables).toMatchObject({ ...passed, PIP_CACHE_DIR: '/cache/t-1/_pip' });
  expect(Object.values(variables)).not.toContain(PIP_TARGET);
});

test('builds of another user get no credentials', () => {
  const variables = pythonVariables('/cache', env, true);
  expect(JSON.stringify(variables)).not.toMatch(/canary|ken@|third/);
  expect(variables).toMatchObject({ PIP_CERT: '/etc/certificates.pem', UV_PYTHON_DOWNLOADS: 'never' });
});

test('credentials of indexes are masked', () => {
  expect(indexSecrets(env)).toEqual(['canary', 't@ken', 'third']);
});
