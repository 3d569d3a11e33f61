import { expect, test } from 'vitest';
import {
  indexSecrets,
  pythonVariables,
  hasIndexOnlyForUv,
} from '../../../../../src/services/control/builds/python/python-variables.ts';

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

test('uv is told of the folders and addresses of packages that pip is told of', () => {
  const find = (links: Record<string, string>) => pythonVariables('/cache', links, false)['UV_FIND_LINKS'];
  expect(find({ PIP_FIND_LINKS: `${import.meta.dirname} /missing https://one.example/wheels` })).toBe(
    `${import.meta.dirname},https://one.example/wheels`,
  );
  expect(find({ PIP_FIND_LINKS: '/missing' })).toBeUndefined();
  expect(find({ PIP_FIND_LINKS: import.meta.dirname, UV_FIND_LINKS: '/own' })).toBe('/own');
});

test.each([
  [true, { UV_DEFAULT_INDEX: 'https://index.example' }],
  [true, { UV_FIND_LINKS: '/wheels' }],
  [false, { UV_FIND_LINKS: '/wheels', PIP_FIND_LINKS: '/wheels' }],
  [false, { PIP_INDEX_URL: 'https://index.example', UV_HTTP_TIMEOUT: '30' }],
])('uv alone is told of an index: %s for %j', (expected, settings) => {
  expect(hasIndexOnlyForUv(settings)).toBe(expected);
});

test('credentials of indexes are masked', () => {
  expect(indexSecrets(env)).toEqual(['canary', 't@ken', 'third']);
});
