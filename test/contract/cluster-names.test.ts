import { describe, expect, test } from 'vitest';
import { resourceSpec } from '../../src/contract/control/resource-spec.ts';
import { secretReference } from '../../src/contract/control/secret.ts';
import { readBody } from '../../src/services/control/validation/shape.ts';

/** The places that are wrong, as the service reports them. */
const wrong = (schema: typeof resourceSpec | typeof secretReference, body: object) => {
  const read = readBody<unknown>(schema, body);
  return read.ok
    ? []
    : 'problems' in read.refusal
      ? read.refusal.problems.map(({ loc, msg }) => [loc.join(' '), msg])
      : read;
};
const reference = (fields: object) => ({ name: 'TOKEN', secret_name: 'tokens', secret_key: 'token', ...fields });

const longest = 'a'.repeat(63);
const longestObject = [longest, longest, longest, 'a'.repeat(61)].join('.');

describe('names that a cluster takes are taken', () => {
  test.each<[what: string, spec: object]>([
    ['labels', { labels: { team: 'support', 'example.com/Team_1.a': 'A.b_c-1', empty: '', [longest]: longest } }],
    ['a label with a long prefix', { labels: { [`${longestObject}/a`]: '1' } }],
    ['any text as an annotation', { annotations: { 'example.com/why': 'any text: {"a": 1}\n', B: '' } }],
    ['a service account', { service_account_name: 'agents.team-1' }],
    ['the longest service account', { service_account_name: longestObject }],
    ['pull secrets', { image_pull_secrets: [{ name: 'registry' }, { name: '1.a-b' }] }],
    ['nulls', { labels: null, annotations: null, service_account_name: null, image_pull_secrets: null }],
    [
      'a volume of each kind',
      {
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'b', configMap: { name: 'x' } },
        ],
      },
    ],
    ['a volume whose other kinds are null', { volumes: [{ name: 'a', emptyDir: {}, secret: null, hostPath: null }] }],
    ['a volume with an unknown field', { volumes: [{ name: 'a', emptyDir: {}, colour: 'red' }] }],
  ])('%s', (_, spec) => expect(wrong(resourceSpec, spec)).toEqual([]));

  test.each([{ secret_name: 'a.b-c' }, { secret_key: '.npmrc' }, { secret_key: 'API_KEY.1' }, { secret_key: '-' }])(
    'a reference with %j',
    (fields) => expect(wrong(secretReference, reference(fields))).toEqual([]),
  );
});

describe('names that a cluster refuses are refused, with the field and the rule', () => {
  test.each<[place: string, spec: object, rule: RegExp]>([
    ['labels my team', { labels: { 'my team': 'a' } }, /^is not a key of a label: it must have at most 63 /],
    ['labels a/b/c', { labels: { 'a/b/c': 'a' } }, /not a key of a label/],
    ['labels Upper.example/a', { labels: { 'Upper.example/a': 'a' } }, /not a key of a label/],
    ['labels /a', { labels: { '/a': 'a' } }, /not a key of a label/],
    ['labels ', { labels: { '': 'a' } }, /not a key of a label/],
    ['labels a', { labels: { a: '-x' } }, /^must be empty or have at most 63 /],
    ['labels a', { labels: { a: 'a b' } }, /must be empty or have/],
    ['labels a', { labels: { a: `${longest}a` } }, /must be empty or have/],
    ['labels a', { labels: { a: 'a\n' } }, /must be empty or have/],
    ['annotations _', { annotations: { _: '' } }, /^is not a key of an annotation/],
    ['service_account_name', { service_account_name: 'My_Account' }, /^must be a DNS subdomain/],
    ['service_account_name', { service_account_name: `${longestObject}a` }, /DNS subdomain/],
    ['image_pull_secrets 1 name', { image_pull_secrets: [{ name: 'a' }, { name: 'a..b' }] }, /DNS subdomain/],
    [
      'volumes 0 hostPath',
      { volumes: [{ name: 'a', hostPath: { path: '/' } }] },
      /^is not a kind of volume that .*configMap/,
    ],
    ['volumes 0 ephemeral', { volumes: [{ name: 'a', ephemeral: {} }] }, /not a kind of volume/],
    [
      'volumes 1 emptyDir',
      { volumes: [{ name: 'a' }, { name: 'b', secret: {}, emptyDir: {} }] },
      /kind secret already$/,
    ],
  ])('%s (row %#)', (place, spec, rule) =>
    expect(wrong(resourceSpec, spec)).toEqual([[`body ${place}`, expect.stringMatching(rule)]]),
  );

  test.each<[field: string, value: string, rule: RegExp]>([
    ['secret_name', 'My Secret', /^must be a DNS subdomain/],
    ['secret_name', '-a', /DNS subdomain/],
    ['secret_key', 'a/b', /^must have at most 253 letters/],
    ['secret_key', '.', /neither be \. nor/],
    ['secret_key', '..a', /begin with \.\./],
    ['secret_key', 'a'.repeat(254), /at most 253/],
  ])('%s of a reference (row %#)', (field, value, rule) =>
    expect(wrong(secretReference, reference({ [field]: value }))).toEqual([
      [`body ${field}`, expect.stringMatching(rule)],
    ]),
  );
});
