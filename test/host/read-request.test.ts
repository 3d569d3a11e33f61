import { describe, expect, test } from 'vitest';
import { readRequest } from '../../src/host/read-request.ts';

const read = (key: string, graderKeys = '') => {
  const text = `name: a
source: external_docker
image-uri: a:1
smoke-tests:
  - name: a
    assistant: a
    input: {}
    expect: { values: [{ path: $.a, judge: Is kind }] }
    grader: { model: m, key: ${key} }
`;
  const inputs = { 'base-url': 'https://host', 'grader-keys': graderKeys };
  const request = readRequest({ inputs, file: { text, path: 'landfall.yml' } });
  return request.ok ? [] : request.problems.map(({ field, message }) => `${field}: ${message}`);
};

describe('the key of a grader', () => {
  test.each(['OPENAI_API_KEY', 'my_api_key'])('may be %s', (key) => expect(read(key)).toEqual([]));

  test.each(['AWS_SECRET_ACCESS_KEY', 'NPM_TOKEN', 'DATABASE_URL', 'OPENAI_API_KEY_FILE', 'PATH'])(
    'may be %s only where it is listed',
    (key) => {
      expect(read(key)).toEqual([expect.stringMatching(/^grader-keys: .* does not end in _API_KEY/)]);
      expect(read(key, `OTHER\n${key}`)).toEqual([]);
    },
  );

  test('may never be the key of a control service, listed or not', () => {
    expect(read('LANDFALL_API_KEY', 'LANDFALL_API_KEY')).toEqual([
      expect.stringContaining('must not name a credential for something else'),
    ]);
  });
});
