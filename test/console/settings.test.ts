import { describe, expect, test } from 'vitest';
import { deployment as deploymentSchema } from '../../src/contract/control/deployment.ts';
import { changesOf, saveEffect, type Edits } from '../../src/console/pages/settings/changes.ts';
import { isEditable, settingsFields } from '../../src/console/pages/settings/fields.ts';
import { noSecretEdits, type SecretEdits } from '../../src/console/pages/settings/secrets.ts';

const deployment = deploymentSchema.parse({
  name: 'echo',
  source: 'github',
  source_config: { repo_url: 'https://example.com/echo', build_on_push: false, install_command: null },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
  secrets: [
    { name: 'MODEL_KEY', value: 'read-model-key' },
    { name: 'OLD_KEY', value: 'read-old-key' },
  ],
  id: 'd',
  tenant_id: 't',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  status: 'READY',
  latest_revision_id: 'r',
  active_revision_id: 'r',
});
const fields = settingsFields('github');
const image = { ...deployment, source: 'external_docker', source_config: { resource_spec: { cpu: 1 } } };

const changes = (edits: Edits, secrets: SecretEdits = noSecretEdits, of = deployment) =>
  changesOf(of, settingsFields(of.source), { edits, secrets });
const effectOf = (edits: Edits, secrets?: SecretEdits) => saveEffect(changes(edits, secrets).fields);

describe('the form of the settings', () => {
  test('has the fields of the source alone, and lets those be changed that the table does', () => {
    expect(fields.filter(isEditable).map(({ path }) => path)).toEqual([
      'source_revision_config.repo_ref',
      'source_revision_config.graph_config_path',
      'source_config.build_on_push',
      'source_config.install_command',
      'source_config.build_command',
      'secrets',
    ]);
    expect(settingsFields('external_docker').map(({ path }) => path)).toContain('source_config.resource_spec');
    expect(fields.every(({ hint }) => !hint.includes('undefined'))).toBe(true);
  });

  test('sends the changed fields alone', () => {
    expect(changes({ 'source_config.build_on_push': 'true', 'source_revision_config.repo_ref': 'main' }).patch).toEqual(
      {
        source_config: { build_on_push: true },
      },
    );
    expect(changes({ 'source_config.build_on_push': 'false' })).toMatchObject({ fields: [], patch: undefined });
  });

  test('sends the whole set of secrets: the ones that stay as they were read', () => {
    const edits: SecretEdits = {
      changed: new Map([['MODEL_KEY', 'new\nvalue']]),
      removed: new Set(),
      added: [{ key: 1, name: 'THIRD', value: '3' }],
    };
    expect(changes({}, edits).patch).toEqual({
      secrets: [
        { name: 'MODEL_KEY', value: 'new\nvalue' },
        { name: 'OLD_KEY', value: 'read-old-key' },
        { name: 'THIRD', value: '3' },
      ],
    });
    const removal = { ...noSecretEdits, removed: new Set(['OLD_KEY']) };
    expect(changes({}, removal).patch).toEqual({ secrets: [{ name: 'MODEL_KEY', value: 'read-model-key' }] });
  });

  test.each<[string, SecretEdits, RegExp]>([
    ['a name that exists', { ...noSecretEdits, added: [{ key: 1, name: 'OLD_KEY', value: 'x' }] }, /exists already/],
    ['no name', { ...noSecretEdits, added: [{ key: 1, name: '', value: 'x' }] }, /Enter a name/],
    ['a reserved name', { ...noSecretEdits, added: [{ key: 1, name: 'PATH', value: 'x' }] }, /platform/],
    ['a wrong name', { ...noSecretEdits, added: [{ key: 1, name: 'a-b', value: 'x' }] }, /not a valid name/],
    ['no value', { ...noSecretEdits, added: [{ key: 1, name: 'NEW', value: '' }] }, /Enter a value/],
  ])('refuses a new secret with %s', (_, edits, problem) => {
    const { patch, problems } = changes({}, edits);
    expect(patch).toBeUndefined();
    expect(problems.get('secrets')).toMatch(problem);
  });

  test('never sends a secret whose value the service hides', () => {
    const hiding = { ...deployment, secrets: [{ name: 'MODEL_KEY', value: null }] };
    const { patch, problems } = changes({}, { ...noSecretEdits, added: [{ key: 1, name: 'NEW', value: 'x' }] }, hiding);
    expect(patch).toBeUndefined();
    expect(problems.get('secrets')).toContain('MODEL_KEY');
  });

  test.each<[string, Edits, RegExp]>([
    ['an emptied field', { 'source_revision_config.repo_ref': ' ' }, /cannot be emptied/],
    ['a wrong ref', { 'source_revision_config.repo_ref': 'a..b' }, /not a name that git allows/],
    ['a path out of the repository', { 'source_revision_config.graph_config_path': '../x.json' }, /lead out/],
    ['a quote in a command', { 'source_config.install_command': 'echo "x"' }, /a quote/],
  ])('shows the problem of %s at the field', (_, edits, problem) => {
    const { patch, problems } = changes(edits);
    expect(patch).toBeUndefined();
    expect(problems.get(Object.keys(edits)[0] ?? '')).toMatch(problem);
  });

  test('refuses builds on push of a tag', () => {
    const edits = { 'source_config.build_on_push': 'true', 'source_revision_config.repo_ref': 'refs/tags/v1' };
    expect(changes(edits).problems.get('source_config.build_on_push')).toMatch(/never built on push/);
  });

  test.each<[string, string, RegExp]>([
    ['no JSON', '{', /not valid JSON/],
    ['an unknown field', '{"cpus": 2}', /cpus/],
    ['a value out of bounds', '{"cpu": 99}', /cpu: .*8/],
    ['a request above its limit', '{"cpu": 4, "cpu_limit": 2}', /cpu is 4 and may not be above/],
  ])('refuses resources with %s', (_, text, problem) => {
    const { problems, patch } = changes({ 'source_config.resource_spec': text }, noSecretEdits, image);
    expect(patch).toBeUndefined();
    expect(problems.get('source_config.resource_spec')).toMatch(problem);
  });
});

test('says before saving whether it creates a revision', () => {
  expect(effectOf({})).toBeUndefined();
  expect(effectOf({ 'source_config.build_on_push': 'true' })).toEqual({
    makesRevision: false,
    message: 'Saving changes this at once, without a revision.',
  });
  expect(effectOf({ 'source_config.install_command': 'npm ci' })?.message).toMatch(/takes effect with the next/);
  expect(effectOf({ 'source_config.build_on_push': 'true', 'source_config.build_command': 'make' })?.message).toBe(
    'Saving creates no revision. Changed at once: Build on push. With the next revision: Build command.',
  );
  expect(
    effectOf({ 'source_config.build_command': 'make' }, { ...noSecretEdits, removed: new Set(['OLD_KEY']) }),
  ).toMatchObject({ makesRevision: true });
});
