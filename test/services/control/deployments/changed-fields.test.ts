import { expect, test } from 'vitest';
import { changedFields } from '../../../../src/services/control/deployments/validation/patch.ts';

const before = {
  source_config: {
    repo_url: 'https://example.com/a',
    build_on_push: false,
    resource_spec: { cpu: 1, labels: { a: 'b' } },
  },
  source_revision_config: { repo_ref: 'main' },
  secrets: [{ name: 'A', value: '1' }],
  secret_references: null,
};

test.each<[string, object, string[]]>([
  ['reports no field without a change', {}, []],
  ['treats null as absent', { source_config: { ...before.source_config, custom_url: null } }, []],
  ['names a field by its path', { source_revision_config: { repo_ref: 'next' } }, ['source_revision_config.repo_ref']],
  [
    'names a resource field by its path, and nested values by their parent',
    { source_config: { ...before.source_config, resource_spec: { cpu: 2, labels: { c: 'd' } } } },
    ['source_config.resource_spec.cpu', 'source_config.resource_spec.labels'],
  ],
  [
    'a removed field',
    { source_config: { repo_url: 'https://example.com/a', build_on_push: false } },
    ['source_config.resource_spec.cpu', 'source_config.resource_spec.labels'],
  ],
  ['a secret with another value', { secrets: [{ name: 'A', value: '2' }] }, ['secrets.A']],
  ['added and removed secrets', { secrets: [{ name: 'B', value: '1' }] }, ['secrets.A', 'secrets.B']],
  ['ignores the order of secrets', { secrets: [...before.secrets] }, []],
  ['a reference', { secret_references: [{ name: 'C', secret_name: 's', secret_key: 'k' }] }, ['secret_references.C']],
])('%s', (_, changes, fields) => expect(changedFields(before, { ...before, ...changes })).toEqual(fields));

test('reports every field of a new deployment', () => {
  expect(changedFields(undefined, before)).toEqual([
    'secrets.A',
    'source_config.build_on_push',
    'source_config.repo_url',
    'source_config.resource_spec.cpu',
    'source_config.resource_spec.labels',
    'source_revision_config.repo_ref',
  ]);
});
